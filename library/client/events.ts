/** The events of a wallet as an async iterable. */
import { toProblemError, ProblemError } from '../../daemon/client/call.ts'
import { followEvents, readFrames, type EventStream as Opened } from '../../daemon/client/follow-events.ts'
import { readReply, type Client } from './client.ts'
import type { EventData } from './endpoints.ts'
import { UnexpectedAnswerError, UnreachableError } from './errors.ts'
import type { Signal } from './deadline.ts'

export type EventType = keyof EventData

/** The data of an event. Events that `POST /events/test` makes have `{ test: true }` instead. */
export type DataOf<T extends EventType> =
  (EventData[T] & { test?: undefined }) | ({ test: true } & { [Name in keyof EventData[T]]?: undefined })

/** An event as streams and webhooks deliver it. */
export type AgentEvent<T extends EventType = EventType> = {
  [Type in T]: {
    type: Type
    /** A UUID. The same event has the same id in the log, in the stream and in every delivery. */
    id: string
    /** The time of the change (ISO 8601). */
    ts: string
    data: DataOf<Type>
    walletId: string
  }
}[T]

export type EventOptions<T extends EventType = EventType> = {
  /** Only events of this type. */
  type?: T | undefined
  /** Only events of this DIDComm thread, or of this DID. */
  thid?: string | undefined
  /** The wallet, for the administrator. */
  walletId?: string | undefined
  /** Only events after the one with this id. `firstEvent` is the begin of the log. Default: only new events. */
  after?: string | undefined
  /** Ends the stream. Reading it then rejects with the reason of the signal. */
  signal?: Signal | undefined
  /** Called with false when the agent has stopped, and with true when it is available again. */
  onChange?: ((isThere: boolean) => void) | undefined
}

export interface EventStream<T extends EventType = EventType> extends AsyncIterableIterator<AgentEvent<T>> {
  /** Opens the stream, if reading has not opened it yet. No event after that is missed. */
  open(): Promise<void>
  next(): Promise<IteratorResult<AgentEvent<T>, undefined>>
  /** Closes the stream, as `break` in a `for await` does. */
  return(): Promise<IteratorResult<AgentEvent<T>, undefined>>
  [Symbol.asyncIterator](): EventStream<T>
}

/** The cursor before the first event of a log. */
export const firstEvent = '00000000-0000-0000-0000-000000000000'

/** The maximum time without data. The agent sends a comment every 15 seconds. */
const silenceMs = 45_000

/**
 * The events of the wallet, each once and in order: `for await (const event of events(client)) …`. The stream
 * opens at the first read. When the connection breaks or the agent restarts, it reconnects and continues
 * after the last event.
 *
 * Reading rejects with a `ProblemError` when the agent refuses, with an `UnreachableError` when it cannot be
 * reached at the first time, and with an `UnexpectedAnswerError` when the answer is not a stream of events.
 */
export function events<T extends EventType = EventType>(
  client: Client,
  options: EventOptions<T> = {},
): EventStream<T> {
  const { signal, after, onChange } = options
  const closing = new AbortController()
  const close = () => {
    signal?.removeEventListener('abort', close)
    closing.abort()
  }
  let following: Promise<AsyncGenerator<AgentEvent<T>, void>> | undefined
  const follow = () => {
    if (following) return following
    if (signal?.aborted) close()
    else signal?.addEventListener('abort', close)
    const open = (last: string | undefined) => openStream<T>(client, options, last, closing.signal)
    following = followEvents({ open, isAway, onChange, signal: closing.signal }, after)
    return following
  }
  /** Ends the stream with the first error. */
  const attempt = async <R>(work: () => Promise<R>): Promise<R> => {
    try {
      return await work()
    } catch (error) {
      close()
      signal?.throwIfAborted()
      throw error
    }
  }
  return {
    open: () => attempt(async () => void (await follow())),
    next: () =>
      attempt(async () => {
        const { done, value } = await (await follow()).next()
        if (!done) return { done: false, value }
        close()
        signal?.throwIfAborted()
        return { done: true, value: undefined }
      }),
    async return() {
      close()
      // A stream that failed has nothing to close.
      await following?.then((events) => events.return()).catch(() => undefined)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Opens a stream after an event, or from now on. */
async function openStream<T extends EventType>(
  client: Client,
  { type, thid, walletId }: EventOptions<T>,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<Opened<AgentEvent<T>>> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ type, thid, walletId }))
    if (value !== undefined) query.set(name, value)
  const silence = new AbortController()
  const request = client.fetch(`/events/stream?${query.toString()}`, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal: AbortSignal.any([signal, silence.signal]),
  })
  const response = await unlessSilent(silence, client.url, request)
  const { status, headers, body } = response
  const contentType = headers.get('content-type') ?? ''
  if (status !== 200 || !body || !contentType.startsWith('text/event-stream')) {
    const content = await readReply(client.url, response)
    if (content !== undefined) throw new UnexpectedAnswerError(client.url, status, 'JSON instead of events')
    throw toProblemError({ status, statusText: response.statusText, contentType, content: '' })
  }
  return { lastEventId: headers.get('last-event-id') ?? lastEventId, events: read() }

  async function* read() {
    try {
      yield* readFrames<AgentEvent<T>>(chunksOf(body!, silence, client.url))
    } catch (cause) {
      if (cause instanceof SyntaxError)
        throw new UnexpectedAnswerError(client.url, status, 'an event that is not JSON', { cause })
      throw new UnreachableError(client.url, 'the stream of events broke off', { cause })
    }
  }
}

/** Waits for data for a limited time. */
function unlessSilent<Result>(silence: AbortController, url: string, data: Promise<Result>): Promise<Result> {
  const reason = new UnreachableError(url, `it has sent nothing for ${silenceMs / 1_000} s`)
  const timer = setTimeout(() => silence.abort(reason), silenceMs)
  return data.finally(() => clearTimeout(timer))
}

/** Reads a body, and gives up when it is silent for too long. */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
  url: string,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await unlessSilent(silence, url, reader.read())
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** True when the agent is not available, or not ready yet. */
function isAway(error: unknown): boolean {
  if (error instanceof UnreachableError) return true
  const status = error instanceof ProblemError ? error.problem.status : undefined
  return [502, 503, 504].includes(error instanceof UnexpectedAnswerError ? error.status : (status ?? 0))
}
