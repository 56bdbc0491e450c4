/** `agent presentation-definition match` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'

export default class PresentationDefinitionMatch extends AgentCommand {
  static override summary = 'Show which credentials of the wallet satisfy a presentation definition'
  static override description =
    'By what they say; nothing is verified. With --quiet, the ids of the credentials.'
  static override examples = ['<%= config.bin %> presentation-definition match <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation definition' }),
  }

  async run() {
    const { args } = await this.parse(PresentationDefinitionMatch)
    const path = { id: args.id }
    const found = await this.call('POST /presentation-exchange/presentation-definitions/{id}/evaluations', {
      path,
    })
    const ids = [...new Set(found.matches.flatMap(({ credentials }) => credentials))]
    if (this.isQuiet) {
      if (ids.length > 0) this.log(ids.join('\n'))
      return found
    }
    this.printList(
      found.matches,
      ({ inputDescriptorId }) => inputDescriptorId,
      [
        { head: 'asks for', of: ({ inputDescriptorId }) => inputDescriptorId, cut: 'end' },
        { head: 'credentials', of: ({ credentials }) => credentials.join(' ') || 'none' },
      ],
      'The definition asks for nothing.',
    )
    if (found.satisfied && ids.length > 0)
      this.suggest(`agent proof present <presentation id> --credential ${ids[0]}`)
    return found
  }
}
