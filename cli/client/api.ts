/** The daemon's HTTP API: types of its requests and answers, and a client that sends the right key. */
import { type Client, createClient } from '../../daemon/client/client.ts'
import { openEventStream, type StreamOptions } from '../../daemon/client/event-client.ts'
import { createFileClient, type FileClient } from '../../daemon/client/file-client.ts'
import { authorize } from './authorization.ts'
import { type Event, readEvents, type Reading } from './events.ts'
import { type Access, currentUrl, fromProcess } from './settings.ts'

declare const call: Client

/** A method and a path, such as `GET /connections`. */
export type Key = Parameters<Client>[0]

/** The body of the answer of an endpoint: `Answer<'GET /connections/{connectionId}'>`. */
export type Answer<K extends Key> = Awaited<ReturnType<typeof call<K>>>

/** The input of an endpoint: `Input<'POST /wallets'>['body']`. */
export type Input<K extends Key> = NonNullable<Parameters<typeof call<K>>[1]>

export function splitKey(key: string): [method: string, path: string] {
  const space = key.indexOf(' ')
  return [key.slice(0, space), key.slice(space + 1)]
}

type EventQuery = { after?: string | undefined } & NonNullable<StreamOptions['query']>

export type Daemon = {
  /** The address and the keys. @throws {UsageError} @throws {StartError} as `findAccess`. */
  getAccess: () => Access
  /**
   * Calls an endpoint.
   *
   * @throws {ProblemError} when the daemon answers with a problem. @throws {DaemonUnreachable}
   */
  call: Client
  /** A client that sends and receives files, with the administrator's key or the tenant's. */
  getFileClient: (as?: 'administrator' | 'tenant') => FileClient
  /**
   * Opens the event stream of the wallet, from `after` or from now on, and continues it across restarts of
   * the daemon. No event is missed once this function has returned.
   *
   * @throws {ProblemError} @throws {DaemonUnreachable}
   */
  openEvents: (query: EventQuery, reading: Reading) => Promise<AsyncIterable<Event>>
  /** Ends open streams, which would keep the process alive. */
  close: () => void
}

/**
 * Creates a client of the daemon. `find` is called at the first use; `timeoutMs` replaces the default time
 * limit of a call. `offerStart` starts a daemon if none is there, and returns false if it may not.
 */
export function connectDaemon(
  find: () => Access,
  timeoutMs?: number,
  offerStart?: (access: Access) => Promise<boolean>,
): Daemon {
  let access: Access | undefined
  let closing: AbortController | undefined
  let isReached = false
  let starting: Promise<boolean> | undefined
  const getAccess = () => (access ??= find())
  /** Sends a request. If no daemon was there yet, sends it again once it was started. */
  const reach = async <Result>(send: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await send()
      isReached = true
      return result
    } catch (error) {
      if (!isRefused(error) || isReached || !(await (starting ??= offerStart?.(getAccess())))) {
        isReached ||= !isRefused(error)
        throw error
      }
      // A daemon that has started may have another port, and other keys.
      access = find()
      return send()
    }
  }
  const send = async (key: string, input: { query?: { walletId?: string } } = {}) => {
    const headers = await authorize(getAccess(), isAdministrators(key, input, getAccess()))
    const client = createClient(getAccess().url, headers, timeoutMs === undefined ? {} : { timeoutMs })
    return (client as (key: string, input: object) => unknown)(key, input)
  }
  return {
    getAccess,
    call: ((key: string, input?: object) => reach(() => send(key, input))) as Client,
    getFileClient: (as = 'administrator') => {
      const open = async () => {
        if (offerStart && !isReached) await reach(() => send('GET /_system/health'))
        return createFileClient(getAccess().url, await authorize(getAccess(), as === 'administrator'))
      }
      return {
        download: async (key, input) => (await open()).download(key, input),
        upload: async (key, input) => (await open()).upload(key, input),
      }
    },
    openEvents: ({ after, ...query }, reading) => {
      const isAdministrators = query.walletId !== undefined && getAccess().adminKey !== undefined
      closing ??= new AbortController()
      const signal = AbortSignal.any([reading.signal, closing.signal])
      const open = async (lastEventId: string | undefined) => {
        const headers = await authorize(getAccess(), isAdministrators)
        return openEventStream(currentUrl(getAccess(), fromProcess()), headers, {
          query,
          lastEventId,
          signal,
        })
      }
      return reach(() => readEvents(open, after, { ...reading, signal }))
    },
    close: () => closing?.abort(),
  }
}

/** True if nothing listens at the address of the daemon, so that it has done nothing. */
function isRefused(error: unknown): boolean {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } }
  return name === 'DaemonUnreachable' && cause?.code === 'ECONNREFUSED'
}

/**
 * True when a call needs the administrator's key. Calls about wallets, and about the events of a named
 * wallet, use it if there is one: a tenant may read its own wallet with its own key.
 */
function isAdministrators(
  key: string,
  { query }: { query?: { walletId?: string } },
  { adminKey }: Access,
): boolean {
  if (/ \/(?:iam|audit|_system\/(?:doctor|master-key|backups|nodes))/.test(key)) return true
  return adminKey !== undefined && (key.includes(' /wallets') || query?.walletId !== undefined)
}
