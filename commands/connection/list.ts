import * as Flags from '@oclif/core/flags'
import type { Connection } from '../../cli/format/records.ts'
import { connectionName } from '../../cli/format/text.ts'
import { expiresCell, listedState, renewal } from '../../cli/format/states.ts'
import { ago } from '../../cli/format/time.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'
import { listCommand } from '../../cli/list-command.ts'

type Page = { contents: Connection[]; next?: string | undefined; hasMore?: boolean }

export default listCommand({
  summary: 'List connections',
  examples: [
    'agent connection list',
    'agent connection list --state InvitationGenerated --quiet',
    'agent connection list --label alice',
  ],
  flags: {
    ...recordFlags,
    label: Flags.string({ description: 'only connections with this text in their label' }),
  },
  read: async ({ flags: { label, ...flags }, call }): Promise<Page> => {
    const query = toRecordQuery('connection', flags)
    const ask = (paging: object) => call('GET /connections', { query: { ...query, ...paging } })
    if (label === undefined) return ask({})
    // The daemon has no filter for labels.
    const text = label.toLowerCase()
    return findFitting(ask, (connection) => connection.label?.toLowerCase().includes(text) ?? false, query)
  },
  id: ({ connectionId }) => connectionId,
  columns: [
    { head: 'id', of: ({ connectionId }) => connectionId, isId: true },
    { head: 'state', of: (item) => listedState('connection', item.state, item) },
    { head: 'label', of: (item) => connectionName(item), cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()) },
    { head: 'expires', of: (item) => expiresCell(item), optional: true },
    { head: 'role', of: ({ role }) => role, optional: true },
  ],
  next: ({ contents: [newest] }) => newest && renewal('connection', newest.state, newest),
  empty: 'There are no connections. `agent connection invite` makes an invitation.',
})

type Paging = { offset: number; limit: number }

const pageSize = 1_000

/** Reads pages until there are `limit` matching connections after the first `offset` ones. */
async function findFitting(
  read: (paging: Paging) => Promise<Page>,
  fits: (connection: Connection) => boolean,
  { offset, limit }: Paging,
): Promise<Page> {
  const found: Connection[] = []
  let hasNext = true
  for (let start = 0; hasNext && found.length <= offset + limit; start += pageSize) {
    const { contents, next } = await read({ offset: start, limit: pageSize })
    found.push(...contents.filter(fits))
    hasNext = next !== undefined
  }
  return { contents: found.slice(offset, offset + limit), hasMore: found.length > offset + limit }
}
