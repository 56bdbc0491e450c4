/** `agent policy show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { policyFields } from '../../cli/format/policy.ts'

export default class PolicyShow extends AgentCommand {
  static override summary = 'Show a verification policy'
  static override examples = ['<%= config.bin %> policy show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the policy' }),
  }

  async run() {
    const { args } = await this.parse(PolicyShow)
    const shown = await this.call('GET /verification/policies/{id}', { path: { id: args.id } })
    this.print(shown.id, policyFields(shown))
    return shown
  }
}
