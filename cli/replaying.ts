/** What commands have that have a webhook sent events again. */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from './base-command.ts'
import { readSince } from './input/time.ts'

const wanted = ['event', 'since', 'failed']

export const replayFlags = {
  event: Flags.string({ exactlyOne: wanted, description: 'this event, by its id' }),
  since: Flags.string({
    exactlyOne: wanted,
    description: 'the events since an instant such as 2030-01-01T00:00:00Z, or since 2h ago',
  }),
  failed: Flags.boolean({ exactlyOne: wanted, description: 'the events that were given up' }),
}

type Wanted = { event?: string | undefined; since?: string | undefined; failed?: boolean }

export abstract class ReplayingCommand extends AgentCommand {
  /** Has a webhook sent events again, and prints how many that will be. @throws {UsageError} for a time that is none. */
  protected async replay(id: string, { event, since }: Wanted): Promise<{ id: string; count: number }> {
    const body =
      event !== undefined
        ? { eventId: event }
        : since !== undefined
          ? { since: readSince('since', since) }
          : { failed: true as const }
    const { count } = await this.call('POST /events/webhooks/{id}/replay', { path: { id }, body })
    this.print(id, [
      ['webhook', id],
      ['sent again', `${count} ${count === 1 ? 'event' : 'events'}`],
    ])
    if (count > 0) this.suggest(`agent webhook deliveries ${id}`)
    return { id, count }
  }
}
