/** `agent connection remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'
import { whichRecord } from '../_ui/questions.ts'

export default class ConnectionRemove extends AgentCommand {
  static override summary = 'Take back an invitation that nobody has accepted'
  static override description =
    'Who accepts it afterwards is refused. A connection that is made stays (403). Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> connection remove <id>', '<%= config.bin %> connection remove <id> --yes']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the connection' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  protected override readonly questions = { id: whichRecord('connection') }

  async run() {
    const { args, flags } = await this.parse(ConnectionRemove)
    if (!flags.yes) await confirm(`Take back the invitation ${args.id}? It cannot be made again.`)
    await this.call('DELETE /connections/{connectionId}', { path: { connectionId: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
