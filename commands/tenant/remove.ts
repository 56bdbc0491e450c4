/** `agent tenant remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'

export default class TenantRemove extends RemovingCommand {
  static override summary = 'Remove a tenant and its keys; its wallet stays'
  static override description = 'Asks first; in scripts, --yes is the answer. Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant remove <id>']
  static override args = idOf('tenant')

  async run() {
    const { args, flags } = await this.parse(TenantRemove)
    await this.remove(
      args.id,
      flags,
      `Remove the tenant ${args.id}? Its keys never let anybody in again.`,
      () => this.call('DELETE /iam/entities/{id}', { path: { id: args.id } }),
    )
    return { id: args.id, removed: true }
  }
}
