/** `agent onboard show` */
import * as Args from '@oclif/core/args'
import { AskingCommand, waitFlags } from '../_asking.ts'

export default class OnboardShow extends AskingCommand {
  static override summary = 'Show a DID request, or wait for its answer'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the DID request' }) }
  static override flags = waitFlags

  async run() {
    const { args, flags } = await this.parse(OnboardShow)
    return this.look('onboard', args.id, flags)
  }
}
