/** `agent connection accept` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { acceptedOffers } from '../../cli/format/connection.ts'
import { shownState } from '../../cli/format/states.ts'
import { acceptanceFlags, acceptOffersFlag, readAcceptance } from '../../cli/input/credential.ts'
import { invitationArg, readInvitation } from '../../cli/input/invitation.ts'
import { whichInvitation } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

export default class ConnectionAccept extends AgentCommand {
  static override summary = 'Accept an invitation of another agent'
  static override examples = [
    '<%= config.bin %> connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    '<%= config.bin %> connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…" --label Acme --wait --timeout 30s',
    '<%= config.bin %> connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…" --accept-offers --subject did:prism:…',
    'wl-paste | <%= config.bin %> connection accept -',
  ]
  static override args = { invitation: invitationArg }
  static override flags = {
    label: Flags.string({ description: 'what this side calls the connection; it is not sent' }),
    'accept-offers': acceptOffersFlag,
    ...acceptanceFlags,
    ...waitFlags('the agents are connected'),
  }

  protected override readonly questions = { invitation: whichInvitation }

  async run() {
    const { args, flags } = await this.parse(ConnectionAccept)
    const automaticAcceptance = readAcceptance(flags)
    const body = { invitation: readInvitation(args.invitation), label: flags.label, automaticAcceptance }
    const settled = await this.waiting('connection', flags, 'ConnectionResponseReceived')
    const made = await this.call('POST /connection-invitations', { body })
    return settled(made, ({ connectionId, label, goal, state, automaticAcceptance: accepted }) => {
      this.print(connectionId, [
        ['connection', connectionId],
        ['label', label],
        ['goal', goal],
        ['state', shownState('connection', state)],
        ['offers', accepted && acceptedOffers(accepted)],
      ])
      this.suggest(`agent connection show ${connectionId}`)
    })
  }
}
