/** `agent auth remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'

export default class AuthRemove extends AgentCommand {
  static override summary = 'Remove a challenge and close its link'
  static override description = 'Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> auth remove <id>']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the challenge' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(AuthRemove)
    if (!flags.yes) await confirm(`Remove the challenge ${args.id}? It cannot be taken back.`)
    const result = await this.call('DELETE /did-authentication/challenges/{challengeId}', { path: { challengeId: args.id } })
    this.print(args.id, [['removed', args.id]])
    return result
  }
}
