/** `agent presentation-definition show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { safeJson } from '../../cli/format/safe.ts'

export default class PresentationDefinitionShow extends AgentCommand {
  static override summary = 'Show a presentation definition'
  static override examples = ['<%= config.bin %> presentation-definition show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation definition' }),
  }

  async run() {
    const { args } = await this.parse(PresentationDefinitionShow)
    const shown = await this.call('GET /presentation-exchange/presentation-definitions/{id}', {
      path: { id: args.id },
    })
    this.print(shown.id, [
      ['definition', shown.id],
      ['name', shown.name],
      ['purpose', shown.purpose],
      ['url', `${this.access.url}/presentation-exchange/presentation-definitions/${shown.id}`],
    ])
    if (!this.isQuiet) this.log(`\n${safeJson(shown.input_descriptors)}`)
    this.suggest(`agent presentation-definition match ${shown.id}`)
    return shown
  }
}
