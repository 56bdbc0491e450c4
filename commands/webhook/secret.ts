/** `agent webhook secret` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Give a webhook a new secret, with which its events are signed',
  description:
    'The secret is shown this once. The one before it signs as well for WEBHOOK_SECRET_OVERLAP (a day), so that the receiver can be changed meanwhile. --remove asks first; in scripts, --yes is the answer.',
  examples: ['agent webhook secret <id>', 'agent webhook secret <id> --remove'],
  args: {
    id: argument('id of the webhook'),
  },
  flags: {
    remove: Flags.boolean({ description: 'sign its events no longer' }),
    yes: Flags.boolean({ char: 'y', dependsOn: ['remove'], description: 'do it without asking' }),
  },
  async run({ args, flags, call, print, suggest }) {
    const path = { id: args.id }
    if (flags.remove) {
      if (!flags.yes)
        await confirm(`Sign the events of the webhook ${args.id} no longer? Its secrets are forgotten.`)
      await call('DELETE /events/webhooks/{id}/secret', { path })
      print(args.id, [['signed no longer', args.id]])
      return { id: args.id, signed: false }
    }
    const renewed = await call('POST /events/webhooks/{id}/secret', { path })
    print(renewed.secret, [
      ['webhook', args.id],
      ['secret', renewed.secret],
      ['the one before', renewed.previousUntil && `signs until ${renewed.previousUntil}`],
    ])
    suggest(`agent webhook test ${args.id}`)
    return { id: args.id, ...renewed }
  },
})
