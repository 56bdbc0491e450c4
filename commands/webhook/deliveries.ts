/** `agent webhook deliveries` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { inStyle } from '../../cli/format/colour.ts'
import { ago, duration } from '../../cli/format/time.ts'
import { pagingFlags } from '../../cli/input/filters.ts'

const outcomes = ['delivered', 'failed', 'dead'] as const

export default class WebhookDeliveries extends AgentCommand {
  static override summary = 'List the attempts to deliver events to a webhook, newest first'
  static override description =
    'An event gets three attempts, five seconds apart. What is not taken then is dead, until `webhook replay` has sent it again.'
  static override examples = [
    '<%= config.bin %> webhook deliveries <id>',
    '<%= config.bin %> webhook deliveries <id> --outcome dead',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }),
  }
  static override flags = {
    ...pagingFlags,
    event: Flags.string({ description: 'only attempts at this event, by its id' }),
    outcome: Flags.option({
      options: outcomes,
      description:
        'only these: delivered; failed, which is every other; dead, the last attempt at each event that was given up',
    })(),
  }

  async run() {
    const { args, flags } = await this.parse(WebhookDeliveries)
    const page = await this.call('GET /events/webhooks/{id}/deliveries', {
      path: { id: args.id },
      query: { limit: flags.limit, offset: flags.offset, eventId: flags.event, outcome: flags.outcome },
    })
    this.printList(
      page.contents,
      ({ eventId }) => eventId,
      [
        { head: 'event', of: ({ eventId }) => eventId },
        { head: 'type', of: ({ type }) => type, cut: 'end', optional: true },
        { head: 'kind', of: ({ kind }) => kind, optional: true },
        { head: 'outcome', of: ({ outcome }) => inStyle(outcome === 'delivered' ? 'good' : 'bad', outcome) },
        { head: 'answer', of: ({ status, error }) => error ?? String(status), cut: 'end' },
        { head: 'took', of: ({ durationMs }) => duration(durationMs), optional: true },
        { head: 'at', of: ({ attemptedAt }) => ago(attemptedAt, Date.now()) },
      ],
      'There are no such deliveries.',
    )
    if (page.contents.some(({ outcome }) => outcome === 'dead'))
      this.suggest(`agent webhook replay ${args.id} --failed`)
    this.sayMore(page, flags)
    return page
  }
}
