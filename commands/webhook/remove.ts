/** `agent webhook remove` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'

export default class WebhookRemove extends AgentCommand {
  static override summary = 'Remove a webhook'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }) }

  async run() {
    const { args } = await this.parse(WebhookRemove)
    await this.call('DELETE /events/webhooks/{id}', { path: { id: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
