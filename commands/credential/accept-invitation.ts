/** `agent credential accept-invitation` */
import { AgentCommand } from '../../cli/base-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { invitationArg, readInvitation } from '../../cli/input/invitation.ts'
import { whichInvitation } from '../../cli/prompts/questions.ts'

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
