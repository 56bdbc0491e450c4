/** `agent presentation-definition list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class PresentationDefinitionList extends AgentCommand {
  static override summary = 'List the presentation definitions of the wallet'
  static override examples = ['<%= config.bin %> presentation-definition list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(PresentationDefinitionList)
    const page = await this.call('GET /presentation-exchange/presentation-definitions', {
      query: toPaging(flags),
    })
    this.printList(
      page.contents,
      ({ id }) => id,
      [
        { head: 'id', of: ({ id }) => id },
        { head: 'name', of: ({ name }) => name ?? undefined, cut: 'end' },
        {
          head: 'asks for',
          of: ({ input_descriptors: asked }) => asked?.map(({ id }) => id).join(' '),
          cut: 'end',
        },
      ],
      'There are no presentation definitions. `agent presentation-definition create` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
