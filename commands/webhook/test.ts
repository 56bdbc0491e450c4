/** `agent webhook test` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { duration } from '../../cli/format/time.ts'
import { eventTypes } from '../../cli/input/filters.ts'

export default class WebhookTest extends AgentCommand {
  static override summary = 'Send a webhook a test event, and say what came back'
  static override description =
    'Its data is {"test": true}. It is sent once, at once, to this webhook alone. Exits with 1 when it is not taken.'
  static override examples = [
    '<%= config.bin %> webhook test <id>',
    '<%= config.bin %> webhook test <id> --type PresentationUpdated',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }),
  }
  static override flags = {
    type: Flags.option({
      options: eventTypes,
      default: 'ConnectionUpdated',
      description: 'type of the event',
    })(),
  }

  async run() {
    const { args, flags } = await this.parse(WebhookTest)
    const result = await this.call('POST /events/webhooks/{id}/test', {
      path: { id: args.id },
      body: { type: flags.type },
    })
    this.print(result.eventId, [
      ['event', result.eventId],
      ['taken', result.error === undefined ? 'yes' : 'no'],
      ['answer', result.error ?? String(result.status)],
      ['took', duration(result.durationMs)],
    ])
    if (result.error !== undefined) process.exitCode = 1
    return result
  }
}
