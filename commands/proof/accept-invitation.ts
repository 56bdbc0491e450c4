/** `agent proof accept-invitation` */
import { AgentCommand } from '../../cli/base-command.ts'
import { presentationFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { invitationArg, readInvitation } from '../../cli/input/invitation.ts'
import { whichInvitation } from '../../cli/prompts/questions.ts'

export default class ProofAcceptInvitation extends AgentCommand {
  static override summary = 'Take the request in an invitation (prover)'
  static override examples = [
    '<%= config.bin %> proof accept-invitation "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'wl-paste | <%= config.bin %> proof accept-invitation -',
  ]
  static override args = { invitation: invitationArg }

  protected override readonly questions = { invitation: whichInvitation }

  async run() {
    const { args } = await this.parse(ProofAcceptInvitation)
    const record = await this.call('POST /present-proof/presentations/accept-invitation', {
      body: { invitation: readInvitation(args.invitation) },
    })
    this.print(record.presentationId, presentationFields(record))
    this.suggest(nextCommand('proof', record.status, record.presentationId))
    return record
  }
}
