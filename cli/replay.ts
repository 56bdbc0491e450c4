/** Sends events to a webhook again. */
import * as Flags from '@oclif/core/flags'
import type { Context, FlagValues } from './define-command.ts'
import { readSince } from './input/time.ts'

const selections = ['event', 'since', 'failed']

export const replayFlags = {
  event: Flags.string({ exactlyOne: selections, description: 'this event, by its id' }),
  since: Flags.string({
    exactlyOne: selections,
    description: 'events since an instant such as 2030-01-01T00:00:00Z, or since a duration such as 2h',
  }),
  failed: Flags.boolean({ exactlyOne: selections, description: 'all events whose delivery has failed' }),
}

/**
 * Has the daemon send events again, and prints their number.
 *
 * @throws {UsageError} for a time that is not valid.
 */
export async function replay(
  { call, flags: { event, since }, print, suggest }: Context<object, FlagValues<typeof replayFlags>>,
  id: string,
): Promise<{ id: string; count: number }> {
  const body =
    event !== undefined
      ? { eventId: event }
      : since !== undefined
        ? { since: readSince('since', since) }
        : { failed: true as const }
  const { count } = await call('POST /events/webhooks/{id}/replay', { path: { id }, body })
  print(id, [
    ['webhook', id],
    ['sends again', `${count} ${count === 1 ? 'event' : 'events'}`],
  ])
  if (count > 0) suggest(`agent webhook deliveries ${id}`)
  return { id, count }
}
