/** Pings the other side of a connection, or the agent of a DID. */
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../daemon/client/client.ts'
import { CommandError } from '../errors/errors.ts'
import { readSeconds } from '../input/time.ts'
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
  const until = performance.now() + readSeconds('timeout', timeout) * 1_000
  const start = performance.now()
  const { id } = await call('POST /didcomm/pings', { body: peer })
  for (let waitMs = 20; performance.now() < until; waitMs = Math.min(waitMs * 1.5, 1_000)) {
    const found = await call('GET /didcomm/pings/{id}', { path: { id } })
    if (found.answeredAt !== undefined)
      return { ...found, milliseconds: Math.round(performance.now() - start) }
    if (found.failure !== undefined)
      throw new CommandError(`The other side did not accept the ping. ${found.failure}`, 1, hint)
    await setTimeout(waitMs)
  }
  throw new CommandError(`The other side did not answer within ${timeout}.`, 6, hint)
}
