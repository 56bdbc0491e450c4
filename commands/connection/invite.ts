/** `agent connection invite` */
import * as Flags from '@oclif/core/flags'
import { shownState } from '../../cli/format/states.ts'
import { acceptanceFlags, acceptOffersFlag, readAcceptance } from '../../cli/input/credential.ts'
import { InvitingCommand, invitationFlags } from '../../cli/inviting.ts'
import { waitFlags } from '../../cli/wait.ts'

export default class ConnectionInvite extends InvitingCommand {
  static override summary = 'Create an invitation for another agent'
  static override description =
    'Prints the invitation’s URL, under a QR code when there is a terminal that it fits into; with --wait, the connection once somebody has accepted.'
  static override examples = [
    '<%= config.bin %> connection invite --label Bob',
    '<%= config.bin %> connection invite --qr none | wl-copy',
    '<%= config.bin %> connection invite --wait --timeout 2m',
  ]
  static override flags = {
    label: Flags.string({ description: 'what this side calls the connection; it is not sent' }),
    ...invitationFlags(),
    'accept-offers': acceptOffersFlag,
    ...acceptanceFlags,
    ...waitFlags('somebody has accepted and is connected'),
  }

  async run() {
    const { flags } = await this.parse(ConnectionInvite)
    const { label, goal } = flags
    const body = { label, goal, goalCode: flags['goal-code'], automaticAcceptance: readAcceptance(flags) }
    const show = this.inviting(flags)
    const settled = await this.waiting('connection', flags, 'ConnectionResponseSent')
    const made = await this.call('POST /connections', { body })
    await show(made.connectionId, made)
    return settled(made, ({ connectionId, state }) => {
      if (flags.wait !== undefined && !this.isQuiet)
        this.print(connectionId, [
          ['connection', connectionId],
          ['state', shownState('connection', state)],
        ])
      this.suggest(`agent connection show ${connectionId}`)
    })
  }
}
