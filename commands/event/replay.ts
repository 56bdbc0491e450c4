import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { replay, replayFlags } from '../../cli/replay.ts'

export default defineCommand({
  hidden: true,
  summary: 'Send events to a webhook again',
  description:
    'As `agent webhook replay`: events keep their ids and their order, and precede pending events.',
  examples: [
    'agent event replay --to <webhook id> --event <event id>',
    'agent event replay --to <webhook id> --since 2h',
    'agent event replay --to <webhook id> --failed',
  ],
  flags: {
    to: Flags.string({ required: true, description: 'id of the webhook' }),
    ...replayFlags,
  },
  run: (context) => replay(context, context.flags.to),
})
