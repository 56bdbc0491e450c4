/** `agent connection invite` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { drawQr } from '../_ui/qr.ts'

export default class ConnectionInvite extends AgentCommand {
  static override summary = 'Create an invitation for another agent'
  static override description = 'Prints the invitation’s URL, under a QR code when there is a terminal that it fits into.'
  static override examples = ['<%= config.bin %> connection invite --label Bob', '<%= config.bin %> connection invite --no-qr | wl-copy']
  static override flags = {
    label: Flags.string({ description: 'what this side calls the connection; it is not sent' }),
    goal: Flags.string({ description: 'what it is for, in words that the other side sees' }),
    'goal-code': Flags.string({ description: 'what it is for, as a code such as issue-vc' }),
    qr: Flags.boolean({ description: 'draw the QR code, or do not; when left out, only on a terminal', allowNo: true }),
  }

  async run() {
    const { flags } = await this.parse(ConnectionInvite)
    const { label, goal } = flags
    const made = await this.call('POST /connections', { body: { label, goal, goalCode: flags['goal-code'] } })
    const { invitationUrl } = made.invitation
    if (this.isQuiet) this.log(made.connectionId)
    else {
      if (flags.qr ?? process.stdout.isTTY) this.drawQr(invitationUrl)
      this.log(invitationUrl)
    }
    this.suggest(`agent connection show ${made.connectionId}`)
    return made
  }

  private drawQr(url: string): void {
    const { columns, rows } = process.stdout
    const qr = drawQr(url, { columns, rows })
    if ('lines' in qr) this.log(qr.lines.join('\n'))
    else this.say(`No QR code: ${qr.reason}.`)
  }
}
