import * as Flags from '@oclif/core/flags'
import { inStyle } from '../../cli/format/colour.ts'
import { ago, duration } from '../../cli/format/time.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { listCommand } from '../../cli/list-command.ts'

const outcomes = ['delivered', 'failed', 'dead'] as const

export default listCommand({
  summary: 'List delivery attempts to a webhook, newest first',
  description:
    'Each event gets three attempts, five seconds apart. Then its delivery is dead, until `agent webhook replay` sends the event again.',
  examples: ['agent webhook deliveries <id>', 'agent webhook deliveries <id> --outcome dead'],
  args: idOf('webhook'),
  flags: {
    event: Flags.string({ description: 'only attempts at this event, by its id' }),
    outcome: Flags.option({
      options: outcomes,
      description:
        'only these: delivered; failed (not delivered); dead (the last failed attempt for an event)',
    })(),
  },
  read: ({ args, flags, call }) =>
    call('GET /events/webhooks/{id}/deliveries', {
      path: { id: args.id },
      query: { limit: flags.limit, offset: flags.offset, eventId: flags.event, outcome: flags.outcome },
    }),
  id: ({ eventId }) => eventId,
  columns: [
    { head: 'event', of: ({ eventId }) => eventId, isId: true },
    { head: 'type', of: ({ type }) => type, cut: 'end', optional: true },
    { head: 'kind', of: ({ kind }) => kind, optional: true },
    { head: 'outcome', of: ({ outcome }) => inStyle(outcome === 'delivered' ? 'good' : 'bad', outcome) },
    { head: 'answer', of: ({ status, error }) => error ?? String(status), cut: 'end' },
    { head: 'took', of: ({ durationMs }) => duration(durationMs), optional: true },
    { head: 'at', of: ({ attemptedAt }) => ago(attemptedAt, Date.now()) },
  ],
  empty: 'There are no such deliveries.',
  next: ({ contents }, { args }) =>
    contents.some(({ outcome }) => outcome === 'dead')
      ? `agent webhook replay ${args.id} --failed`
      : undefined,
})
