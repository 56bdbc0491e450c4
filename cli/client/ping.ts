/** Pings the other side of a connection, or the agent of a DID. */
import type { Client } from '../../daemon/client/client.ts'
import { CommandError } from '../errors/errors.ts'
import { readSeconds } from '../input/time.ts'
import { poll } from '../poll.ts'
import type { Answer } from './api.ts'

export type Pinged = Answer<'GET /didcomm/pings/{id}'> & { milliseconds: number }

/**
 * Sends a ping and waits for the answer. `timeout` is a duration such as `10s`.
 *
 * @throws {CommandError} with `hint` when the ping is refused, or not answered in time. @throws {UsageError}
 * for a timeout that is not valid.
 */
export async function ping(
  call: Client,
  peer: { did: string } | { connectionId: string },
  timeout: string,
  hint?: string,
): Promise<Pinged> {
  const timeoutMs = readSeconds('timeout', timeout) * 1_000
  const start = performance.now()
  const { id } = await call('POST /didcomm/pings', { body: peer })
  const found = await poll(
    () => call('GET /didcomm/pings/{id}', { path: { id } }),
    ({ answeredAt, failure }) => answeredAt !== undefined || failure !== undefined,
    timeoutMs,
  )
  if (found.answeredAt !== undefined) return { ...found, milliseconds: Math.round(performance.now() - start) }
  if (found.failure !== undefined)
    throw new CommandError(`The other side did not accept the ping. ${found.failure}`, 1, hint)
  throw new CommandError(`The other side did not answer within ${timeout}.`, 6, hint)
}
