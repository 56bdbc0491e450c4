/** `agent credential revoke` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { confirm } from '../../cli/prompts/confirm.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class CredentialRevoke extends AgentCommand {
  static override summary = 'Revoke a credential, for good (issuer)'
  static override description =
    'It counts at once: the status list says it to whoever verifies, and the holder is told. Asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> credential revoke <id>',
    '<%= config.bin %> credential revoke <id> --yes',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }),
  }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  protected override readonly questions = { id: whichRecord('credential', ['CredentialSent'], 'Issuer') }

  async run() {
    const { args, flags } = await this.parse(CredentialRevoke)
    if (!flags.yes) await confirm(`Revoke the credential of ${args.id}? It cannot be taken back.`)
    await this.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: args.id } })
    const record = await this.call('GET /issue-credentials/records/{recordId}', {
      path: { recordId: args.id },
    })
    this.print(record.recordId, credentialFields(record))
    return record
  }
}
