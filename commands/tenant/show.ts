import { defineCommand } from '../../cli/define-command.ts'
import { tenantFields } from '../../cli/format/administration.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a tenant',
  examples: ['agent tenant show <id>'],
  args: idOf('tenant'),
  async run({ args, call, print }) {
    const tenant = await call('GET /iam/entities/{id}', { path: { id: args.id } })
    print(tenant.id, tenantFields(tenant))
    return tenant
  },
})
