/** `agent webhook remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'

export default class WebhookRemove extends RemovingCommand {
  static override summary = 'Remove a webhook'
  static override description =
    'What it was not told yet is dropped. Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> webhook remove <id>']
  static override args = idOf('webhook')

  async run() {
    const { args, flags } = await this.parse(WebhookRemove)
    await this.remove(args.id, flags, `Remove the webhook ${args.id}? It cannot be taken back.`, () =>
      this.call('DELETE /events/webhooks/{id}', { path: { id: args.id } }),
    )
    return { id: args.id, removed: true }
  }
}
