import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'

export default defineCommand({
  summary: 'Have a node give its wallets to the others, before maintenance (administrator)',
  description:
    'The node keeps answering, and forwards requests to the owners of the wallets. It is not ready, so that a load balancer sends no more requests. A node that stops does the same by itself.',
  examples: ['agent node drain node-2', 'agent node drain node-2 --undo'],
  args: { name: Args.string({ description: 'name of the node, as in `agent node list`', required: true }) },
  flags: { undo: Flags.boolean({ description: 'have the node take its share of the wallets again' }) },
  async run({ args, flags, call, print }) {
    const path = { name: args.name }
    const node = flags.undo
      ? await call('DELETE /_system/nodes/{name}/draining', { path })
      : await call('PUT /_system/nodes/{name}/draining', { path })
    print(node.name, [
      ['node', node.name],
      ['state', node.state],
      ['shards', String(node.shards)],
    ])
    return node
  },
})
