/** Events of the enterprise suite, which has none in the service document: behind `ENTERPRISE_EVENTS`. */
import type { Config } from '../base/config.ts'
import { putEvent } from '../events/event.ts'
import type { Tx } from '../storage/database.ts'

/** Writes an event down with the change that it tells of, if they are wanted; `data` is the resource as it is now. */
export async function announce(
  tx: Tx,
  { ENTERPRISE_EVENTS }: Pick<Config, 'ENTERPRISE_EVENTS'>,
  type: 'DidRequestUpdated' | 'AuthenticationChallengeUpdated',
  data: { id: string },
): Promise<void> {
  if (ENTERPRISE_EVENTS) await putEvent(tx, { type, subject: data.id, data })
}
