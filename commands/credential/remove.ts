/** `agent credential remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class CredentialRemove extends RemovingCommand {
  static override summary = 'Remove a credential record; the holder’s with its credential'
  static override description =
    'The other side is not told. An issuer revokes a credential that still holds before it removes the record. Asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> credential remove <id>',
    '<%= config.bin %> credential remove <id> --yes',
  ]
  static override args = idOf('credential record')

  protected override readonly questions = { id: whichRecord('credential') }

  async run() {
    const { args, flags } = await this.parse(CredentialRemove)
    await this.remove(
      args.id,
      flags,
      `Remove the credential record ${args.id}? It cannot be taken back.`,
      () => this.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId: args.id } }),
    )
    return { id: args.id, removed: true }
  }
}
