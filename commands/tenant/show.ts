/** `agent tenant show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { tenantFields } from '../../cli/format/tenant.ts'

export default class TenantShow extends AgentCommand {
  static override summary = 'Show a tenant'
  static override examples = ['<%= config.bin %> tenant show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }),
  }

  async run() {
    const { args } = await this.parse(TenantShow)
    const tenant = await this.call('GET /iam/entities/{id}', { path: { id: args.id } })
    this.print(tenant.id, tenantFields(tenant))
    return tenant
  }
}
