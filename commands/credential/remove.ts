/** `agent credential remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'
import { whichRecord } from '../_ui/questions.ts'

export default class CredentialRemove extends AgentCommand {
  static override summary = 'Remove a credential record; the holder’s with its credential'
  static override description =
    'The other side is not told. An issuer revokes a credential that still holds before it removes the record. Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> credential remove <id>', '<%= config.bin %> credential remove <id> --yes']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  protected override readonly questions = { id: whichRecord('credential') }

  async run() {
    const { args, flags } = await this.parse(CredentialRemove)
    if (!flags.yes) await confirm(`Remove the credential record ${args.id}? It cannot be taken back.`)
    await this.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
