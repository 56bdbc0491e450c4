/** `agent tenant rename` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { tenantFields } from '../../cli/format/tenant.ts'

export default class TenantRename extends AgentCommand {
  static override summary = 'Give a tenant another name'
  static override description = 'Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant rename <id> "Alice Ltd"']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }),
    name: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'what the tenant is called from now on',
    }),
  }

  async run() {
    const { args } = await this.parse(TenantRename)
    const tenant = await this.call('PUT /iam/entities/{id}/name', {
      path: { id: args.id },
      body: { name: args.name },
    })
    this.print(tenant.id, tenantFields(tenant))
    return tenant
  }
}
