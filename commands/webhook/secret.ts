import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Create a new signing secret for a webhook',
  description:
    'The secret is printed only now. The previous secret signs too for WEBHOOK_SECRET_OVERLAP (default: one day), so that you can update the receiver. --remove asks for confirmation; in scripts use --yes.',
  examples: ['agent webhook secret <id>', 'agent webhook secret <id> --remove'],
  args: idOf('webhook'),
  flags: {
    remove: Flags.boolean({ description: 'stop signing events' }),
    yes: Flags.boolean({ char: 'y', dependsOn: ['remove'], description: 'do not ask for confirmation' }),
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
