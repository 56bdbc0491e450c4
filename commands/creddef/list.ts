import { openDefinition, registryFlags } from '../../cli/input/registry.ts'
import { columnsOf, listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the wallet’s credential definitions',
  examples: ['agent creddef list', 'agent creddef list --name "id card" --tag 2026'],
  flags: registryFlags,
  read: async ({ flags: { name, version, author, tag, 'did-url': hasDidUrl }, call, paging }) => {
    const query = { name, version, author, tag, ...paging }
    return hasDidUrl
      ? call('GET /credential-definition-registry/definitions/did-url', { query })
      : call('GET /credential-definition-registry/definitions', { query })
  },
  id: (each) => openDefinition(each).guid,
  columns: columnsOf(openDefinition, [
    { head: 'guid', of: ({ guid }) => guid, isId: true },
    { head: 'name', of: ({ name }) => name, cut: 'end' },
    { head: 'version', of: ({ version }) => version },
    { head: 'tag', of: ({ tag }) => tag, cut: 'end' },
    { head: 'state', of: ({ state }) => state },
    { head: 'author', of: ({ author }) => author, cut: 'middle' },
  ]),
  empty: 'There are no credential definitions. `agent creddef create` makes one.',
})
