import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a webhook',
  examples: ['agent webhook show <id>'],
  args: idOf('webhook'),
  async run({ args, call, print, suggest }) {
    const webhook = await call('GET /events/webhooks/{id}', { path: { id: args.id } })
    print(webhook.id, [
      ['webhook', webhook.id],
      ['url', webhook.url],
      ['headers', Object.keys(webhook.customHeaders).join(', ') || undefined],
      ['signed', webhook.signed ? 'yes' : 'no'],
      ['events', webhook.types?.join(', ') ?? 'all'],
      ['delivers', webhook.deliver && 'e-mails and text messages'],
      ['events a request', webhook.batch === undefined ? '1' : `up to ${webhook.batch}`],
      ['created', webhook.createdAt],
    ])
    suggest(`agent webhook deliveries ${webhook.id}`)
    return webhook
  },
})
