/** `agent tenant remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'

export default class TenantRemove extends AgentCommand {
  static override summary = 'Remove a tenant and its keys; its wallet stays'
  static override description = 'Asks first; in scripts, --yes is the answer. Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant remove <id>']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(TenantRemove)
    if (!flags.yes) await confirm(`Remove the tenant ${args.id}? Its keys never let anybody in again.`)
    await this.call('DELETE /iam/entities/{id}', { path: { id: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
