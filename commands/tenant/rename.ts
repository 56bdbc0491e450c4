import { defineCommand } from '../../cli/define-command.ts'
import { tenantFields } from '../../cli/format/administration.ts'
import { argument, idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Rename a tenant',
  description: 'Needs the administrator’s key.',
  examples: ['agent tenant rename <id> "Alice Ltd"'],
  args: {
    ...idOf('tenant'),
    name: argument('new name of the tenant'),
  },
  async run({ args, call, print }) {
    const tenant = await call('PUT /iam/entities/{id}/name', {
      path: { id: args.id },
      body: { name: args.name },
    })
    print(tenant.id, tenantFields(tenant))
    return tenant
  },
})
