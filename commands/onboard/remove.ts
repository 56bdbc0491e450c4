/** `agent onboard remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'

export default class OnboardRemove extends AgentCommand {
  static override summary = 'Remove a DID request and close its link'
  static override description = 'Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> onboard remove <id>']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the DID request' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(OnboardRemove)
    if (!flags.yes) await confirm(`Remove the DID request ${args.id}? It cannot be taken back.`)
    const result = await this.call('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId: args.id } })
    this.print(args.id, [['removed', args.id]])
    return result
  }
}
