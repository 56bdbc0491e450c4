/** `agent credential accept-invitation` */
import { AgentCommand } from '../_base.ts'
import { credentialFields } from '../_format/records.ts'
import { nextCommand } from '../_format/states.ts'
import { invitationArg, readInvitation } from '../_input/invitation.ts'
import { whichInvitation } from '../_ui/questions.ts'

export default class CredentialAcceptInvitation extends AgentCommand {
  static override summary = 'Take the offer in an invitation (holder)'
  static override examples = [
    '<%= config.bin %> credential accept-invitation "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'wl-paste | <%= config.bin %> credential accept-invitation -',
  ]
  static override args = { invitation: invitationArg }

  protected override readonly questions = { invitation: whichInvitation }

  async run() {
    const { args } = await this.parse(CredentialAcceptInvitation)
    const record = await this.call('POST /issue-credentials/credential-offers/accept-invitation', {
      body: { invitation: readInvitation(args.invitation) },
    })
    this.print(record.recordId, credentialFields(record))
    this.suggest(nextCommand('credential', record.protocolState, record.recordId))
    return record
  }
}
