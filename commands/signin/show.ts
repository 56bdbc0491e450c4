import { defineCommand } from '../../cli/define-command.ts'
import { showRequest, showRequestFlags } from '../../cli/enterprise.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a challenge, or wait for its answer',
  examples: ['agent signin show <id>', 'agent signin show <id> --wait --timeout 1m'],
  args: idOf('challenge'),
  flags: showRequestFlags,
  run: (context) => showRequest(context, 'signin', context.args.id),
})
