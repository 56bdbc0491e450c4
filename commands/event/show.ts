/** `agent event show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { stateOf } from '../../cli/format/event.ts'
import { safeJson } from '../../cli/format/safe.ts'
import { walletFlag } from '../../cli/input/filters.ts'

export default class EventShow extends AgentCommand {
  static override summary = 'Show an event with its data'
  static override examples = ['<%= config.bin %> event show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the event' }),
  }
  static override flags = { wallet: walletFlag }

  async run() {
    const { args, flags } = await this.parse(EventShow)
    const event = await this.call('GET /events/{id}', {
      path: { id: args.id },
      query: { walletId: flags.wallet },
    })
    this.print(event.id, [
      ['event', event.id],
      ['type', event.type],
      ['state', stateOf(event)],
      ['time', event.ts],
      ['thread', event.data.thid],
      ['wallet', event.walletId],
    ])
    if (!this.isQuiet) this.log(`\n${safeJson(event.data)}`)
    return event
  }
}
