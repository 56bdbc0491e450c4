import { keyScopes, keyState } from '../../../cli/format/administration.ts'
import { ago, ahead } from '../../../cli/format/time.ts'
import { idOf } from '../../../cli/input/arguments.ts'
import { listCommand } from '../../../cli/list-command.ts'

export default listCommand({
  summary: 'List a tenant’s API keys and their last use',
  description: 'The agent does not store the keys themselves. Needs the administrator’s key.',
  examples: ['agent tenant key list <tenant id>'],
  args: idOf('tenant'),
  read: ({ args, call, paging }) =>
    call('GET /iam/entities/{id}/api-keys', { path: { id: args.id }, query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'name', of: ({ name }) => name, cut: 'end' },
    { head: 'state', of: keyState },
    { head: 'for', of: keyScopes, cut: 'end' },
    {
      head: 'last used',
      of: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : ago(lastUsedAt, Date.now())),
      optional: true,
    },
    {
      head: 'expires',
      of: ({ state, expiresAt }) =>
        state === 'active' && expiresAt !== undefined ? ahead(expiresAt, Date.now()) : undefined,
      optional: true,
    },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'The tenant has no keys. `agent tenant key create <tenant>` makes one.',
})
