/** `agent proof remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'
import { whichRecord } from '../_ui/questions.ts'

export default class ProofRemove extends AgentCommand {
  static override summary = 'Remove a presentation record'
  static override description = 'The other side is not told. Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> proof remove <id>', '<%= config.bin %> proof remove <id> --yes']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation record' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  protected override readonly questions = { id: whichRecord('proof') }

  async run() {
    const { args, flags } = await this.parse(ProofRemove)
    if (!flags.yes) await confirm(`Remove the presentation record ${args.id}? It cannot be taken back.`)
    await this.call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
