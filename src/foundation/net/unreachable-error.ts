/** The reasons why a request to another server failed. */
import { systemReason } from '../system-reason.ts'

export type UnreachableCode =
  | 'address-not-allowed'
  | 'bad-encoding'
  | 'bad-request'
  | 'bad-status'
  | 'bad-url'
  | 'host-denied'
  | 'no-such-host'
  | 'not-json'
  | 'not-text'
  | 'port-not-allowed'
  | 'redirect'
  | 'refused'
  | 'timeout'
  | 'too-large'

/** `code` is for programs, the message for people. Neither contains text of the other side. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
  readonly code: UnreachableCode
  /** The HTTP status, for `bad-status`. */
  readonly status: number | undefined

  constructor(
    code: UnreachableCode,
    message: string,
    options?: ErrorOptions & { status?: number | undefined },
  ) {
    super(message, options)
    this.code = code
    this.status = options?.status
  }
}

/** The error of a request that did not end in time. */
export function tooLate({ host }: URL, timeoutMs: number): UnreachableError {
  return new UnreachableError('timeout', `${host} did not answer within ${timeoutMs} ms`)
}

/** The error of a response above the limit. */
export function tooLarge({ host }: URL, maxBytes: number): UnreachableError {
  return new UnreachableError('too-large', `${host} answered with more than ${maxBytes} bytes`)
}

/**
 * Converts an error to the code of the system. Messages of the HTTP parser quote the other side and are
 * dropped.
 */
export function toUnreachable(error: unknown, url: URL): UnreachableError {
  if (error instanceof UnreachableError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  if (code === 'ENOTFOUND') return new UnreachableError('no-such-host', `there is no host ${url.hostname}`)
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new UnreachableError('timeout', `${url.host} did not answer in time`)
  if (code === 'UND_ERR_INVALID_ARG')
    return new UnreachableError(
      'bad-request',
      `the request to ${url.host} cannot be sent: a header of it has characters that HTTP does not allow`,
    )
  return new UnreachableError('refused', `${url.host} could not be reached: ${systemReason({ code })}`)
}
