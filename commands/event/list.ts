import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { eventColumns } from '../../cli/format/event.ts'
import { eventFlags, pagingFlags, toPaging } from '../../cli/input/filters.ts'
import { sayMore } from '../../cli/list-command.ts'

export default defineCommand({
  summary: 'List the wallet’s events, newest first',
  description:
    'With --after, lists the events after one, oldest first. Events older than EVENT_RETENTION are deleted.',
  examples: [
    'agent event list --limit 20',
    'agent event list --thid <thread> --json',
    'agent event list --after <event id>',
  ],
  flags: {
    ...eventFlags,
    after: Flags.string({ description: 'only events after this one, by its id, oldest first' }),
    ...pagingFlags,
  },
  async run(context) {
    const { flags, call, printList, suggest } = context
    const { type, thid, wallet: walletId, after, limit, offset } = flags
    const paging = after === undefined ? toPaging(flags) : { after, limit, offset }
    const page = await call('GET /events', { query: { type, thid, walletId, ...paging } })
    printList(
      page.contents,
      ({ id }) => id,
      eventColumns,
      'There are no events. `agent event trigger` makes one, as a test.',
    )
    if (after === undefined) sayMore(context, page)
    const last = page.contents.at(-1)
    const filter = [type && ` --type ${type}`, thid && ` --thid ${thid}`, walletId && ` --wallet ${walletId}`]
      .filter(Boolean)
      .join('')
    if (after !== undefined && page.next !== undefined && last)
      suggest(`agent event list --after ${last.id}${filter}`)
    return page
  },
})
