/** `agent connection remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ConnectionRemove extends RemovingCommand {
  static override summary = 'Take back an invitation that nobody has accepted'
  static override description =
    'Who accepts it afterwards is refused. A connection that is made stays (403). Asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> connection remove <id>',
    '<%= config.bin %> connection remove <id> --yes',
  ]
  static override args = idOf('connection')

  protected override readonly questions = { id: whichRecord('connection') }

  async run() {
    const { args, flags } = await this.parse(ConnectionRemove)
    await this.remove(args.id, flags, `Take back the invitation ${args.id}? It cannot be made again.`, () =>
      this.call('DELETE /connections/{connectionId}', { path: { connectionId: args.id } }),
    )
    return { id: args.id, removed: true }
  }
}
