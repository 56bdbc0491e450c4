/** `agent connection show` */
import * as Args from '@oclif/core/args'
import { connectionFields } from '../../cli/format/connection.ts'
import { InvitingCommand } from '../../cli/inviting.ts'
import { askedQrFlags, chooseAskedQr } from '../../cli/prompts/qr-choice.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ConnectionShow extends InvitingCommand {
  static override summary = 'Show a connection'
  static override examples = ['<%= config.bin %> connection show <id>']
  static override args = {
    id: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'the connection: its id, the end of the id, or its label',
    }),
  }
  static override flags = askedQrFlags()

  protected override readonly questions = { id: whichRecord('connection') }

  async run() {
    const { args, flags } = await this.parse(ConnectionShow)
    const qr = chooseAskedQr(flags)
    const shown = await this.call('GET /connections/{connectionId}', { path: { connectionId: args.id } })
    const { connectionId, state, invitation } = shown
    this.print(connectionId, connectionFields(shown))
    // Cut by nothing: it is there to be copied.
    await this.showAgain(
      connectionId,
      state === 'InvitationGenerated' ? invitation.invitationUrl : undefined,
      qr,
    )
    return shown
  }
}
