/** `agent credential reject` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

export default class CredentialReject extends AgentCommand {
  static override summary = 'Decline an offer (holder)'
  static override description = 'The issuer is told, and the offer cannot be accepted any more.'
  static override examples = ['<%= config.bin %> credential reject <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }),
  }
  static override flags = waitFlags('the issuer is told')

  protected override readonly questions = { id: whichRecord('credential', ['OfferReceived']) }

  async run() {
    const { args, flags } = await this.parse(CredentialReject)
    const settled = await this.waiting('credential', flags, 'ProblemReportSent')
    const made = await this.call('POST /issue-credentials/records/{recordId}/reject-offer', {
      path: { recordId: args.id },
    })
    return settled(made, (record) => this.print(record.recordId, credentialFields(record)))
  }
}
