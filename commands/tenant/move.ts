import { defineCommand } from '../../cli/define-command.ts'
import { tenantFields } from '../../cli/format/administration.ts'
import { argument, idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Assign another wallet to a tenant',
  description:
    'The tenant’s keys open the new wallet. The previous wallet does not change. Needs the administrator’s key.',
  examples: ['agent tenant move <id> <wallet id>'],
  args: {
    ...idOf('tenant'),
    wallet: argument('id of the wallet'),
  },
  async run({ args, call, print }) {
    const tenant = await call('PUT /iam/entities/{id}/walletId', {
      path: { id: args.id },
      body: { walletId: args.wallet },
    })
    print(tenant.id, tenantFields(tenant))
    return tenant
  },
})
