import * as Args from '@oclif/core/args'
import { defineCommand } from '../../cli/define-command.ts'
import { eventTypes } from '../../cli/input/filters.ts'

export default defineCommand({
  summary: 'Create a test event for all webhooks and streams of the wallet',
  description: 'Its data is {"test": true}.',
  examples: ['agent event trigger ConnectionUpdated'],
  args: {
    type: Args.custom<(typeof eventTypes)[number]>({ options: eventTypes })({
      required: true,
      ignoreStdin: true,
      description: 'type of the event',
    }),
  },
  async run({ args, call, print }) {
    const event = await call('POST /events/test', { body: { type: args.type } })
    print(event.id, [
      ['event', event.id],
      ['type', event.type],
      ['time', event.ts],
    ])
    return event
  },
})
