/** `agent policy remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'

export default class PolicyRemove extends AgentCommand {
  static override summary = 'Remove a verification policy'
  static override description = 'Proof requests that were made with it stay as they are. Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> policy remove <id>']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the policy' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(PolicyRemove)
    if (!flags.yes) await confirm(`Remove the verification policy ${args.id}? It cannot be taken back.`)
    await this.call('DELETE /verification/policies/{id}', { path: { id: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
