/** `agent tenant rename` */
import { defineCommand } from '../../cli/define-command.ts'
import { tenantFields } from '../../cli/format/administration.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Give a tenant another name',
  description: 'Needs the administrator’s key.',
  examples: ['agent tenant rename <id> "Alice Ltd"'],
  args: {
    id: argument('id of the tenant'),
    name: argument('what the tenant is called from now on'),
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
