/** `agent auth show` */
import * as Args from '@oclif/core/args'
import { AskingCommand, waitFlags } from '../_asking.ts'

export default class AuthShow extends AskingCommand {
  static override summary = 'Show a challenge, or wait for its answer'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the challenge' }) }
  static override flags = waitFlags

  async run() {
    const { args, flags } = await this.parse(AuthShow)
    return this.look('auth', args.id, flags)
  }
}
