import type { Input } from '../../cli/client/api.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readObject } from '../../cli/input/files.ts'

type Definition = NonNullable<Input<'POST /presentation-exchange/presentation-definitions'>['body']>

export default defineCommand({
  summary: 'Create a presentation definition (DIF Presentation Exchange), readable by anyone who has its id',
  examples: ['agent presentation-definition create @definition.json'],
  args: {
    definition: argument('the definition: @file.json, @- for standard input, or inline'),
  },
  async run({ args, call, print, getAccess, suggest }) {
    // The daemon validates the content.
    const body = readObject('definition', args.definition) as Definition
    const made = await call('POST /presentation-exchange/presentation-definitions', { body })
    print(made.id, [
      ['definition', made.id],
      ['name', made.name],
      ['asks for', made.input_descriptors?.map(({ id }) => id).join(', ') || undefined],
      ['url', `${getAccess().url}/presentation-exchange/presentation-definitions/${made.id}`],
    ])
    suggest(`agent presentation-definition match ${made.id}`)
    return made
  },
})
