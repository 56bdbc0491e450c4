/** `agent credential issue` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { credentialFields } from '../_format/records.ts'

export default class CredentialIssue extends AgentCommand {
  static override summary = 'Issue the credential of an offer that was accepted (issuer)'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }) }

  async run() {
    const { args } = await this.parse(CredentialIssue)
    const record = await this.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId: args.id } })
    this.print(record.recordId, credentialFields(record))
    this.suggest(`agent credential show ${record.recordId}`)
    return record
  }
}
