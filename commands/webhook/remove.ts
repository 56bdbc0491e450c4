/** `agent webhook remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { confirm } from '../_ui/confirm.ts'

export default class WebhookRemove extends AgentCommand {
  static override summary = 'Remove a webhook'
  static override description = 'What it was not told yet is dropped. Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> webhook remove <id>']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }) }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(WebhookRemove)
    if (!flags.yes) await confirm(`Remove the webhook ${args.id}? It cannot be taken back.`)
    await this.call('DELETE /events/webhooks/{id}', { path: { id: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
