/** `agent creddef list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { openDefinition, registryFlags } from '../../cli/input/registry.ts'
import { toPaging } from '../../cli/input/filters.ts'

export default class CreddefList extends AgentCommand {
  static override summary = 'List the credential definitions of this wallet'
  static override examples = [
    '<%= config.bin %> creddef list',
    '<%= config.bin %> creddef list --name "id card" --tag 2026',
  ]
  static override flags = registryFlags

  async run() {
    const { flags } = await this.parse(CreddefList)
    const { name, version, author, tag } = flags
    const query = { name, version, author, tag, ...toPaging(flags) }
    const page = flags['did-url']
      ? await this.call('GET /credential-definition-registry/definitions/did-url', { query })
      : await this.call('GET /credential-definition-registry/definitions', { query })
    this.printList(
      page.contents.map((each) => openDefinition(each)),
      ({ guid }) => guid,
      [
        { head: 'guid', of: ({ guid }) => guid },
        { head: 'name', of: ({ name }) => name, cut: 'end' },
        { head: 'version', of: ({ version }) => version },
        { head: 'tag', of: ({ tag }) => tag, cut: 'end' },
        { head: 'state', of: ({ state }) => state },
        { head: 'author', of: ({ author }) => author, cut: 'middle' },
      ],
      'There are no credential definitions. `agent creddef create` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
