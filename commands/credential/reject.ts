/** `agent credential reject` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { credentialFields } from '../_format/records.ts'

export default class CredentialReject extends AgentCommand {
  static override summary = 'Decline an offer (holder)'
  static override description = 'The issuer is told, and the offer cannot be accepted any more.'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }) }

  async run() {
    const { args } = await this.parse(CredentialReject)
    const record = await this.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId: args.id } })
    this.print(record.recordId, credentialFields(record))
    return record
  }
}
