/** `agent policy show` */
import { defineCommand } from '../../cli/define-command.ts'
import { policyFields } from '../../cli/format/administration.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a verification policy',
  examples: ['agent policy show <id>'],
  args: {
    id: argument('id of the policy'),
  },
  async run({ args, call, print }) {
    const shown = await call('GET /verification/policies/{id}', { path: { id: args.id } })
    print(shown.id, policyFields(shown))
    return shown
  },
})
