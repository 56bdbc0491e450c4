/** `agent webhook replay` */
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { replay, replayFlags } from '../../cli/replay.ts'

export default defineCommand({
  summary: 'Send a webhook events again',
  description:
    'They keep their ids and their order, and come before what the webhook was not told yet. What it will be sent anyway is not put there twice.',
  examples: [
    'agent webhook replay <id> --failed',
    'agent webhook replay <id> --since 2h',
    'agent webhook replay <id> --event <event id>',
  ],
  args: {
    id: argument('id of the webhook'),
  },
  flags: replayFlags,
  run: (context) => replay(context, context.args.id),
})
