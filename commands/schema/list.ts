import { openSchema, registryFlags } from '../../cli/input/registry.ts'
import { columnsOf, listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the wallet’s credential schemas',
  examples: ['agent schema list --name employee', 'agent schema list --tag hr --version 1.%'],
  flags: registryFlags,
  read: async ({ flags: { name, version, author, tag: tags, 'did-url': hasDidUrl }, call, paging }) => {
    const query = { name, version, author, tags, ...paging }
    return hasDidUrl
      ? call('GET /schema-registry/schemas/did-url', { query })
      : call('GET /schema-registry/schemas', { query })
  },
  id: (each) => openSchema(each).guid,
  columns: columnsOf(openSchema, [
    { head: 'guid', of: ({ guid }) => guid, isId: true },
    { head: 'name', of: ({ name }) => name, cut: 'end' },
    { head: 'version', of: ({ version }) => version },
    { head: 'tags', of: ({ tags }) => tags.join(' '), cut: 'end' },
    { head: 'author', of: ({ author }) => author, cut: 'middle' },
  ]),
  empty: 'There are no schemas. `agent schema publish` publishes one.',
})
