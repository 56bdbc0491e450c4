import { defineCommand } from '../../cli/define-command.ts'
import { nodeColumns } from '../../cli/format/administration.ts'

export default defineCommand({
  summary: 'List the nodes of an agent over PostgreSQL (administrator)',
  description:
    'Each node works on the wallets of its shards. A node that has ended stays in the list for ten minutes.',
  examples: ['agent node list', 'agent node list --json'],
  async run({ call, printList }) {
    const page = await call('GET /_system/nodes')
    printList(
      page.contents,
      ({ name }) => name,
      nodeColumns,
      'This agent is one process: AGENT_DATABASE_URL is not set.',
    )
    return page
  },
})
