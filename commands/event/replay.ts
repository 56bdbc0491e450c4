/** `agent event replay` */
import * as Flags from '@oclif/core/flags'
import { replayFlags, ReplayingCommand } from '../../cli/replaying.ts'

export default class EventReplay extends ReplayingCommand {
  static override summary = 'Send events again, to a webhook'
  static override description =
    'As `agent webhook replay`: they keep their ids and their order, and come before what the webhook was not told yet.'
  static override examples = [
    '<%= config.bin %> event replay --to <webhook id> --event <event id>',
    '<%= config.bin %> event replay --to <webhook id> --since 2h',
    '<%= config.bin %> event replay --to <webhook id> --failed',
  ]
  static override flags = {
    to: Flags.string({ required: true, description: 'id of the webhook' }),
    ...replayFlags,
  }

  async run() {
    const { flags } = await this.parse(EventReplay)
    return this.replay(flags.to, flags)
  }
}
