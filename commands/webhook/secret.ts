/** `agent webhook secret` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { confirm } from '../../cli/prompts/confirm.ts'

export default class WebhookSecret extends AgentCommand {
  static override summary = 'Give a webhook a new secret, with which its events are signed'
  static override description =
    'The secret is shown this once. The one before it signs as well for WEBHOOK_SECRET_OVERLAP (a day), so that the receiver can be changed meanwhile. --remove asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> webhook secret <id>',
    '<%= config.bin %> webhook secret <id> --remove',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the webhook' }),
  }
  static override flags = {
    remove: Flags.boolean({ description: 'sign its events no longer' }),
    yes: Flags.boolean({ char: 'y', dependsOn: ['remove'], description: 'do it without asking' }),
  }

  async run() {
    const { args, flags } = await this.parse(WebhookSecret)
    const path = { id: args.id }
    if (flags.remove) {
      if (!flags.yes)
        await confirm(`Sign the events of the webhook ${args.id} no longer? Its secrets are forgotten.`)
      await this.call('DELETE /events/webhooks/{id}/secret', { path })
      this.print(args.id, [['signed no longer', args.id]])
      return { id: args.id, signed: false }
    }
    const renewed = await this.call('POST /events/webhooks/{id}/secret', { path })
    this.print(renewed.secret, [
      ['webhook', args.id],
      ['secret', renewed.secret],
      ['the one before', renewed.previousUntil && `signs until ${renewed.previousUntil}`],
    ])
    this.suggest(`agent webhook test ${args.id}`)
    return { id: args.id, ...renewed }
  }
}
