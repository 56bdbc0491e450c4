/** `agent policy remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'

export default class PolicyRemove extends RemovingCommand {
  static override summary = 'Remove a verification policy'
  static override description =
    'Proof requests that were made with it stay as they are. Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> policy remove <id>']
  static override args = idOf('policy')

  async run() {
    const { args, flags } = await this.parse(PolicyRemove)
    await this.remove(
      args.id,
      flags,
      `Remove the verification policy ${args.id}? It cannot be taken back.`,
      () => this.call('DELETE /verification/policies/{id}', { path: { id: args.id } }),
    )
    return { id: args.id, removed: true }
  }
}
