/** `agent onboard show` */
import * as Args from '@oclif/core/args'
import { AskingCommand, lookFlags } from '../../cli/asking.ts'

export default class OnboardShow extends AskingCommand {
  static override summary = 'Show a DID request, or wait for its answer'
  static override examples = [
    '<%= config.bin %> onboard show <id>',
    '<%= config.bin %> onboard show <id> --wait --timeout 1m',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the DID request' }),
  }
  static override flags = lookFlags

  async run() {
    const { args, flags } = await this.parse(OnboardShow)
    return this.look('onboard', args.id, flags)
  }
}
