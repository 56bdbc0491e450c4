/** `agent credential show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { credentialFields } from '../_format/records.ts'
import { nextCommand } from '../_format/states.ts'

export default class CredentialShow extends AgentCommand {
  static override summary = 'Show a credential record: what its credential says, how long it is valid, and whether it is revoked'
  static override description = 'The status list is asked anew each time; `agent credential export` prints the credential itself.'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }) }

  async run() {
    const { args } = await this.parse(CredentialShow)
    const path = { recordId: args.id }
    const record = await this.call('GET /issue-credentials/records/{recordId}', { path })
    const isWanted = record.credential !== undefined && !this.isQuiet
    const content = isWanted ? await this.call('GET /issue-credentials/records/{recordId}/credential', { path }) : undefined
    this.print(record.recordId, credentialFields(record, content))
    const isOpen = record.protocolState === 'InvitationGenerated' && !this.isQuiet
    if (isOpen && record.invitation) this.log(`\n${record.invitation.invitationUrl}`)
    this.suggest(nextCommand('credential', record.protocolState, record.recordId))
    return content ? { ...record, content } : record
  }
}
