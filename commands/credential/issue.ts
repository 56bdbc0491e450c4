/** `agent credential issue` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

export default class CredentialIssue extends AgentCommand {
  static override summary = 'Issue the credential of an offer that was accepted (issuer)'
  static override examples = [
    '<%= config.bin %> credential issue <id>',
    '<%= config.bin %> credential issue <id> --wait',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }),
  }
  static override flags = waitFlags('the holder has it')

  protected override readonly questions = { id: whichRecord('credential', ['RequestReceived']) }

  async run() {
    const { args, flags } = await this.parse(CredentialIssue)
    const settled = await this.waiting('credential', flags, 'CredentialSent')
    const made = await this.call('POST /issue-credentials/records/{recordId}/issue-credential', {
      path: { recordId: args.id },
    })
    return settled(made, (record) => {
      this.print(record.recordId, credentialFields(record))
      this.suggest(`agent credential show ${record.recordId}`)
    })
  }
}
