import { nameOf } from '../../../cli/format/locale.ts'
import { ago } from '../../../cli/format/time.ts'
import { idOf } from '../../../cli/input/arguments.ts'
import { listCommand } from '../../../cli/list-command.ts'

export default listCommand({
  summary: 'List the credentials that an OpenID4VCI issuer offers',
  examples: ['agent issuer configuration list <issuer id>'],
  args: idOf('issuer'),
  read: ({ args, call, paging }) =>
    call('GET /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId: args.id },
      query: paging,
    }),
  id: ({ configurationId }) => configurationId,
  columns: [
    { head: 'id', of: ({ configurationId }) => configurationId },
    { head: 'name', of: ({ display }) => nameOf(display) },
    { head: 'format', of: ({ format }) => format },
    { head: 'schema', of: ({ schemaId }) => schemaId, cut: 'middle' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'There are no configurations. `agent issuer configuration add <issuer id>` adds one.',
})
