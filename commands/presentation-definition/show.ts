import { defineCommand } from '../../cli/define-command.ts'
import { safeJson } from '../../cli/format/text.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a presentation definition',
  examples: ['agent presentation-definition show <id>'],
  args: idOf('presentation definition'),
  async run({ args, call, print, getAccess, isQuiet, log, suggest }) {
    const shown = await call('GET /presentation-exchange/presentation-definitions/{id}', {
      path: { id: args.id },
    })
    print(shown.id, [
      ['definition', shown.id],
      ['name', shown.name],
      ['purpose', shown.purpose],
      ['url', `${getAccess().url}/presentation-exchange/presentation-definitions/${shown.id}`],
    ])
    if (!isQuiet) log(`\n${safeJson(shown.input_descriptors)}`)
    suggest(`agent presentation-definition match ${shown.id}`)
    return shown
  },
})
