/** `agent tenant delete` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'

export default class TenantDelete extends AgentCommand {
  static override summary = 'Delete a tenant and its keys; its wallet stays'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }) }

  async run() {
    const { args } = await this.parse(TenantDelete)
    await this.call('DELETE /iam/entities/{id}', { path: { id: args.id } })
    this.print(args.id, [['deleted', args.id]])
    return { id: args.id, deleted: true }
  }
}
