/** `agent auth create` */
import { AskingCommand, askFlags } from '../../cli/asking.ts'

export default class AuthCreate extends AskingCommand {
  static override summary = 'Ask somebody to sign in with their DID'
  static override description =
    'Prints the challenge, under a QR code when there is a terminal that it fits into. It is answered once, and soon; with --wait, says by which DID.'
  static override examples = [
    '<%= config.bin %> auth create --from Acme --wait',
    '<%= config.bin %> auth create --qr none | wl-copy',
  ]
  static override flags = askFlags

  async run() {
    const { flags } = await this.parse(AuthCreate)
    return this.ask(
      'auth',
      () => this.call('POST /did-authentication/challenges', { body: { from: flags.from } }),
      flags,
    )
  }
}
