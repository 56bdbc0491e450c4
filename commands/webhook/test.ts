import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { duration } from '../../cli/format/time.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { eventTypes } from '../../cli/input/filters.ts'

export default defineCommand({
  summary: 'Send a test event to a webhook and print its answer',
  description:
    'Its data is {"test": true}. The event is sent once, to this webhook only. Exits with 1 if the webhook does not accept it.',
  examples: ['agent webhook test <id>', 'agent webhook test <id> --type PresentationUpdated'],
  args: idOf('webhook'),
  flags: {
    type: Flags.option({
      options: eventTypes,
      default: 'ConnectionUpdated',
      description: 'type of the event',
    })(),
  },
  async run({ args, flags, call, print }) {
    const result = await call('POST /events/webhooks/{id}/test', {
      path: { id: args.id },
      body: { type: flags.type },
    })
    print(result.eventId, [
      ['event', result.eventId],
      ['accepted', result.error === undefined ? 'yes' : 'no'],
      ['answer', result.error ?? String(result.status)],
      ['took', duration(result.durationMs)],
    ])
    if (result.error !== undefined) process.exitCode = 1
    return result
  },
})
