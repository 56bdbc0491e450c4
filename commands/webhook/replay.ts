/** `agent webhook replay` */
import * as Args from '@oclif/core/args'
import { replayFlags, ReplayingCommand } from '../../cli/replaying.ts'

export default class WebhookReplay extends ReplayingCommand {
  static override summary = 'Send a webhook events again'
  static override description =
    'They keep their ids and their order, and come before what the webhook was not told yet. What it will be sent anyway is not put there twice.'
  static override examples = [
    '<%= config.bin %> webhook replay <id> --failed',
    '<%= config.bin %> webhook replay <id> --since 2h',
    '<%= config.bin %> webhook replay <id> --event <event id>',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }),
  }
  static override flags = replayFlags

  async run() {
    const { args, flags } = await this.parse(WebhookReplay)
    return this.replay(args.id, flags)
  }
}
