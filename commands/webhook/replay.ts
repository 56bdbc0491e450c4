import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { replay, replayFlags } from '../../cli/replay.ts'

export default defineCommand({
  summary: 'Send events to a webhook again',
  description:
    'Events keep their ids and their order, and precede pending events. An event that is already pending is not added twice.',
  examples: [
    'agent webhook replay <id> --failed',
    'agent webhook replay <id> --since 2h',
    'agent webhook replay <id> --event <event id>',
  ],
  args: idOf('webhook'),
  flags: replayFlags,
  run: (context) => replay(context, context.args.id),
})
