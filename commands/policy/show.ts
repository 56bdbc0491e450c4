import { defineCommand } from '../../cli/define-command.ts'
import { policyFields } from '../../cli/format/administration.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a verification policy',
  examples: ['agent policy show <id>'],
  args: idOf('policy'),
  async run({ args, call, print }) {
    const shown = await call('GET /verification/policies/{id}', { path: { id: args.id } })
    print(shown.id, policyFields(shown))
    return shown
  },
})
