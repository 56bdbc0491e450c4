/** `agent event show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { stateOf } from '../_format/event.ts'
import { safeJson } from '../_format/safe.ts'

export default class EventShow extends AgentCommand {
  static override summary = 'Show an event with its data'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the event' }) }

  async run() {
    const { args } = await this.parse(EventShow)
    const event = await this.call('GET /events/{id}', { path: { id: args.id } })
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
