/** `agent event trigger` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { eventTypes } from '../../cli/input/filters.ts'

export default class EventTrigger extends AgentCommand {
  static override summary = 'Make a test event, which all webhooks and streams of the wallet are told of'
  static override description = 'Its data is {"test": true}; nothing else has happened.'
  static override examples = ['<%= config.bin %> event trigger ConnectionUpdated']
  static override args = {
    type: Args.custom<(typeof eventTypes)[number]>({ options: eventTypes })({
      required: true,
      ignoreStdin: true,
      description: 'type of the event',
    }),
  }

  async run() {
    const { args } = await this.parse(EventTrigger)
    const event = await this.call('POST /events/test', { body: { type: args.type } })
    this.print(event.id, [
      ['event', event.id],
      ['type', event.type],
      ['time', event.ts],
    ])
    return event
  }
}
