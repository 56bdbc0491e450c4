/** What the daemon answers, as types. */
import type { Client } from '../../daemon/client/client.ts'

declare const call: Client

/** The line of an endpoint. */
export type Key = Parameters<Client>[0]

/** The body that an endpoint answers with: `Answer<'GET /connections/{connectionId}'>`. */
export type Answer<K extends Key> = Awaited<ReturnType<typeof call<K>>>

/** What an endpoint takes, as `call` is given it: `Input<'POST /wallets'>['body']`. */
export type Input<K extends Key> = NonNullable<Parameters<typeof call<K>>[1]>

/** The method and the path of an endpoint's line. */
export function splitKey(key: string): [method: string, path: string] {
  const space = key.indexOf(' ')
  return [key.slice(0, space), key.slice(space + 1)]
}
