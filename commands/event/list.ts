/** `agent event list` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { eventColumns } from '../../cli/format/event.ts'
import { eventFlags, pagingFlags } from '../../cli/input/filters.ts'

export default class EventList extends AgentCommand {
  static override summary = 'List the events of the wallet, oldest first'
  static override description = 'What is past EVENT_RETENTION is gone.'
  static override examples = [
    '<%= config.bin %> event list --limit 20',
    '<%= config.bin %> event list --thid <thread> --json',
    '<%= config.bin %> event list --after <event id>',
  ]
  static override flags = {
    ...eventFlags,
    after: Flags.string({ description: 'only events after this one, by its id' }),
    limit: pagingFlags.limit,
  }

  async run() {
    const { flags } = await this.parse(EventList)
    const { type, thid, wallet: walletId, after, limit } = flags
    const page = await this.call('GET /events', { query: { type, thid, walletId, after, limit } })
    this.printList(
      page.contents,
      ({ id }) => id,
      eventColumns,
      'There are no events. `agent event trigger` makes one, as a test.',
    )
    const last = page.contents.at(-1)
    const filter = [type && ` --type ${type}`, thid && ` --thid ${thid}`, walletId && ` --wallet ${walletId}`]
      .filter(Boolean)
      .join('')
    if (page.next !== undefined && last) this.suggest(`agent event list --after ${last.id}${filter}`)
    return page
  }
}
