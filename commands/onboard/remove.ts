/** `agent onboard remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'

export default class OnboardRemove extends RemovingCommand {
  static override summary = 'Remove a DID request and close its link'
  static override description = 'Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> onboard remove <id>']
  static override args = idOf('DID request')

  async run() {
    const { args, flags } = await this.parse(OnboardRemove)
    return this.remove(args.id, flags, `Remove the DID request ${args.id}? It cannot be taken back.`, () =>
      this.call('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId: args.id } }),
    )
  }
}
