/** `agent webhook show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'

export default class WebhookShow extends AgentCommand {
  static override summary = 'Show a webhook'
  static override examples = ['<%= config.bin %> webhook show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }),
  }

  async run() {
    const { args } = await this.parse(WebhookShow)
    const webhook = await this.call('GET /events/webhooks/{id}', { path: { id: args.id } })
    this.print(webhook.id, [
      ['webhook', webhook.id],
      ['url', webhook.url],
      ['headers', Object.keys(webhook.customHeaders).join(', ') || undefined],
      ['signed', webhook.signed ? 'yes' : 'no'],
      ['created', webhook.createdAt],
    ])
    this.suggest(`agent webhook deliveries ${webhook.id}`)
    return webhook
  }
}
