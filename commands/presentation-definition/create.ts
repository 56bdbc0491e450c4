/** `agent presentation-definition create` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import type { Input } from '../../cli/client/api.ts'
import { readObject } from '../../cli/input/files.ts'

type Definition = NonNullable<Input<'POST /presentation-exchange/presentation-definitions'>['body']>

export default class PresentationDefinitionCreate extends AgentCommand {
  static override summary =
    'Make a presentation definition (DIF Presentation Exchange), which anybody may read by its id'
  static override examples = ['<%= config.bin %> presentation-definition create @definition.json']
  static override args = {
    definition: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'the definition: @file.json, @- for standard input, or written out',
    }),
  }

  async run() {
    const { args } = await this.parse(PresentationDefinitionCreate)
    // What is in it is for the daemon to judge.
    const body = readObject('definition', args.definition) as Definition
    const made = await this.call('POST /presentation-exchange/presentation-definitions', { body })
    this.print(made.id, [
      ['definition', made.id],
      ['name', made.name],
      ['asks for', made.input_descriptors?.map(({ id }) => id).join(', ') || undefined],
      ['url', `${this.access.url}/presentation-exchange/presentation-definitions/${made.id}`],
    ])
    this.suggest(`agent presentation-definition match ${made.id}`)
    return made
  }
}
