/** `agent tenant move` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { tenantFields } from '../../cli/format/tenant.ts'

export default class TenantMove extends AgentCommand {
  static override summary = 'Give a tenant another wallet: its keys open that one from now on'
  static override description = 'The wallet that it had stays as it is. Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant move <id> <wallet id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }),
    wallet: Args.string({ required: true, ignoreStdin: true, description: 'id of the wallet' }),
  }

  async run() {
    const { args } = await this.parse(TenantMove)
    const tenant = await this.call('PUT /iam/entities/{id}/walletId', {
      path: { id: args.id },
      body: { walletId: args.wallet },
    })
    this.print(tenant.id, tenantFields(tenant))
    return tenant
  }
}
