/** `agent tenant show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'

export default class TenantShow extends AgentCommand {
  static override summary = 'Show a tenant'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }) }

  async run() {
    const { args } = await this.parse(TenantShow)
    const tenant = await this.call('GET /iam/entities/{id}', { path: { id: args.id } })
    this.print(tenant.id, [
      ['tenant', tenant.id],
      ['name', tenant.name],
      ['wallet', tenant.walletId],
      ['created', tenant.createdAt],
      ['updated', tenant.updatedAt],
    ])
    return tenant
  }
}
