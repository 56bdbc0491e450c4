/** `agent policy remove` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'

export default class PolicyRemove extends AgentCommand {
  static override summary = 'Remove a verification policy'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the policy' }) }

  async run() {
    const { args } = await this.parse(PolicyRemove)
    await this.call('DELETE /verification/policies/{id}', { path: { id: args.id } })
    this.print(args.id, [['removed', args.id]])
    return { id: args.id, removed: true }
  }
}
