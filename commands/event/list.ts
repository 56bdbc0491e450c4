import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { eventColumns } from '../../cli/format/event.ts'
import { eventFlags, pagingFlags } from '../../cli/input/filters.ts'

export default defineCommand({
  summary: 'List the wallet’s events, oldest first',
  description: 'Events older than EVENT_RETENTION are deleted.',
  examples: [
    'agent event list --limit 20',
    'agent event list --thid <thread> --json',
    'agent event list --after <event id>',
  ],
  flags: {
    ...eventFlags,
    after: Flags.string({ description: 'only events after this one, by its id' }),
    limit: pagingFlags.limit,
  },
  async run({ flags, call, printList, suggest }) {
    const { type, thid, wallet: walletId, after, limit } = flags
    const page = await call('GET /events', { query: { type, thid, walletId, after, limit } })
    printList(
      page.contents,
      ({ id }) => id,
      eventColumns,
      'There are no events. `agent event trigger` makes one, as a test.',
    )
    const last = page.contents.at(-1)
    const filter = [type && ` --type ${type}`, thid && ` --thid ${thid}`, walletId && ` --wallet ${walletId}`]
      .filter(Boolean)
      .join('')
    if (page.next !== undefined && last) suggest(`agent event list --after ${last.id}${filter}`)
    return page
  },
})
