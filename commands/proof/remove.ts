/** `agent proof remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ProofRemove extends RemovingCommand {
  static override summary = 'Remove a presentation record'
  static override description = 'The other side is not told. Asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> proof remove <id>',
    '<%= config.bin %> proof remove <id> --yes',
  ]
  static override args = idOf('presentation record')

  protected override readonly questions = { id: whichRecord('proof') }

  async run() {
    const { args, flags } = await this.parse(ProofRemove)
    await this.remove(
      args.id,
      flags,
      `Remove the presentation record ${args.id}? It cannot be taken back.`,
      () =>
        this.call('DELETE /present-proof/presentations/{presentationId}', {
          path: { presentationId: args.id },
        }),
    )
    return { id: args.id, removed: true }
  }
}
