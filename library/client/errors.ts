/** The errors of the client. Each message is one sentence, and none contains a key. */

/** No agent answers: the connection is refused, broken off, or not allowed by the browser. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
  /** The base URL of the agent. */
  readonly url: string

  constructor(url: string, reason: string, options?: { cause?: unknown }) {
    super(`No agent answers at ${url}: ${reason}.`, options)
    this.url = url
  }
}

/**
 * A server answers, and not as an agent does: the URL is that of another program, or a proxy cannot reach the
 * agent.
 */
export class UnexpectedAnswerError extends Error {
  override name = 'UnexpectedAnswerError'
  /** The base URL of the agent. */
  readonly url: string
  /** The status of the response. */
  readonly status: number

  constructor(url: string, status: number, what: string, options?: { cause?: unknown }) {
    super(
      `The server at ${url} does not answer as an agent: it sends ${what} with status ${status}.`,
      options,
    )
    this.url = url
    this.status = status
  }
}

/** The time is over. */
export class TimedOutError extends Error {
  override name = 'TimedOutError'
  readonly timeoutMs: number

  constructor(message: string, timeoutMs: number) {
    super(message)
    this.timeoutMs = timeoutMs
  }
}

/** The record has ended, or has gone another way: it can no longer reach the state. */
export class StateError extends Error {
  override name = 'StateError'
  readonly state: string
  readonly wanted: readonly string[]
  /** The record in this state. Logs of the error do not show it, because it may contain claims. */
  declare readonly record: unknown

  constructor(message: string, { state, wanted, record }: Pick<StateError, 'state' | 'wanted' | 'record'>) {
    super(message)
    this.state = state
    this.wanted = wanted
    Object.defineProperty(this, 'record', { value: record })
  }
}

/**
 * What is wrong with a request: a header is missing, it is too old or too new, the signature or the body is
 * wrong.
 */
export type WebhookFault = 'headers' | 'timestamp' | 'signature' | 'body'

/**
 * The request is not from an agent that has the secret, or is too old. Answer it with a status that is not
 * 2xx.
 */
export class WebhookError extends Error {
  override name = 'WebhookError'
  readonly fault: WebhookFault

  constructor(fault: WebhookFault, message: string) {
    super(message)
    this.fault = fault
  }
}
