import { defineCommand } from '../../cli/define-command.ts'
import { showRequest, showRequestFlags } from '../../cli/enterprise.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a challenge, or wait for its answer',
  examples: ['agent auth show <id>', 'agent auth show <id> --wait --timeout 1m'],
  args: idOf('challenge'),
  flags: showRequestFlags,
  run: (context) => showRequest(context, 'auth', context.args.id),
})
