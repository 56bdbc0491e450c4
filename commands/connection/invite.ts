/** `agent connection invite` */
import * as Flags from '@oclif/core/flags'
import { InvitingCommand, invitationFlags } from '../_inviting.ts'

export default class ConnectionInvite extends InvitingCommand {
  static override summary = 'Create an invitation for another agent'
  static override description = 'Prints the invitation’s URL, under a QR code when there is a terminal that it fits into.'
  static override examples = ['<%= config.bin %> connection invite --label Bob', '<%= config.bin %> connection invite --no-qr | wl-copy']
  static override flags = {
    label: Flags.string({ description: 'what this side calls the connection; it is not sent' }),
    ...invitationFlags(),
  }

  async run() {
    const { flags } = await this.parse(ConnectionInvite)
    const { label, goal } = flags
    const made = await this.call('POST /connections', { body: { label, goal, goalCode: flags['goal-code'] } })
    this.printInvitation(made.connectionId, made.invitation.invitationUrl, flags.qr)
    this.suggest(`agent connection show ${made.connectionId}`)
    return made
  }
}
