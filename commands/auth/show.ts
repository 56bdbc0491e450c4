/** `agent auth show` */
import * as Args from '@oclif/core/args'
import { AskingCommand, lookFlags } from '../../cli/asking.ts'

export default class AuthShow extends AskingCommand {
  static override summary = 'Show a challenge, or wait for its answer'
  static override examples = [
    '<%= config.bin %> auth show <id>',
    '<%= config.bin %> auth show <id> --wait --timeout 1m',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the challenge' }),
  }
  static override flags = lookFlags

  async run() {
    const { args, flags } = await this.parse(AuthShow)
    return this.look('auth', args.id, flags)
  }
}
