/** `agent connection accept` */
import { AgentCommand } from '../_base.ts'
import { explain } from '../_format/states.ts'
import { invitationArg, readInvitation } from '../_input/invitation.ts'

export default class ConnectionAccept extends AgentCommand {
  static override summary = 'Accept an invitation of another agent'
  static override examples = [
    '<%= config.bin %> connection accept "https://my.domain.com/path?_oob=eyJ…"',
    'wl-paste | <%= config.bin %> connection accept -',
  ]
  static override args = { invitation: invitationArg }

  async run() {
    const { args } = await this.parse(ConnectionAccept)
    const made = await this.call('POST /connection-invitations', { body: { invitation: readInvitation(args.invitation) } })
    this.print(made.connectionId, [
      ['connection', made.connectionId],
      ['goal', made.goal],
      ['state', explain('connection', made.state)],
    ])
    this.suggest(`agent connection show ${made.connectionId}`)
    return made
  }
}
