import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'List the wallet’s credentials that satisfy a presentation definition',
  description: 'Compares claims and verifies nothing. With --quiet, prints the ids of the credentials.',
  examples: ['agent presentation-definition match <id>'],
  args: idOf('presentation definition'),
  async run({ args, call, isQuiet, log, printList, suggest }) {
    const path = { id: args.id }
    const found = await call('POST /presentation-exchange/presentation-definitions/{id}/evaluations', {
      path,
    })
    const ids = [...new Set(found.matches.flatMap(({ credentials }) => credentials))]
    if (isQuiet) {
      if (ids.length > 0) log(ids.join('\n'))
      return found
    }
    printList(
      found.matches,
      ({ inputDescriptorId }) => inputDescriptorId,
      [
        { head: 'asks for', of: ({ inputDescriptorId }) => inputDescriptorId, cut: 'end' },
        { head: 'credentials', of: ({ credentials }) => credentials.join(' ') || 'none', isId: true },
      ],
      'The definition asks for nothing.',
    )
    if (found.satisfied && ids.length > 0)
      suggest(`agent proof present <presentation id> --credential ${ids[0]}`)
    return found
  },
})
