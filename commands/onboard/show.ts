import { defineCommand } from '../../cli/define-command.ts'
import { showRequest, showRequestFlags } from '../../cli/enterprise.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a DID request, or wait for its answer',
  examples: ['agent onboard show <id>', 'agent onboard show <id> --wait --timeout 1m'],
  args: idOf('DID request'),
  flags: showRequestFlags,
  run: (context) => showRequest(context, 'onboard', context.args.id),
})
