/** `agent onboard create` */
import { AskingCommand, askFlags } from '../../cli/asking.ts'

export default class OnboardCreate extends AskingCommand {
  static override summary = 'Ask somebody for their DID'
  static override description =
    'Prints the DID request, under a QR code when there is a terminal that it fits into. It is answered once, by whoever has it; with --wait, says by which DID.'
  static override examples = [
    '<%= config.bin %> onboard create --from Acme --wait',
    '<%= config.bin %> onboard create --qr none | wl-copy',
  ]
  static override flags = askFlags

  async run() {
    const { flags } = await this.parse(OnboardCreate)
    return this.ask(
      'onboard',
      () => this.call('POST /onboard/did-requests', { body: { from: flags.from } }),
      flags,
    )
  }
}
