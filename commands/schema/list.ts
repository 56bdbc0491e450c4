/** `agent schema list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { openSchema, registryFlags } from '../../cli/input/registry.ts'
import { toPaging } from '../../cli/input/filters.ts'

export default class SchemaList extends AgentCommand {
  static override summary = 'List the credential schemas that this wallet published'
  static override examples = [
    '<%= config.bin %> schema list --name employee',
    '<%= config.bin %> schema list --tag hr --version 1.%',
  ]
  static override flags = registryFlags

  async run() {
    const { flags } = await this.parse(SchemaList)
    const { name, version, author, tag: tags } = flags
    const query = { name, version, author, tags, ...toPaging(flags) }
    const page = flags['did-url']
      ? await this.call('GET /schema-registry/schemas/did-url', { query })
      : await this.call('GET /schema-registry/schemas', { query })
    this.printList(
      page.contents.map((each) => openSchema(each)),
      ({ guid }) => guid,
      [
        { head: 'guid', of: ({ guid }) => guid },
        { head: 'name', of: ({ name }) => name, cut: 'end' },
        { head: 'version', of: ({ version }) => version },
        { head: 'tags', of: ({ tags }) => tags.join(' '), cut: 'end' },
        { head: 'author', of: ({ author }) => author, cut: 'middle' },
      ],
      'There are no schemas. `agent schema publish` publishes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
