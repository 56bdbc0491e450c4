/** `agent policy create` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { policyFields } from '../../cli/format/policy.ts'
import { constraintFlags, readConstraints } from '../../cli/input/registry.ts'

export default class PolicyCreate extends AgentCommand {
  static override summary = 'Make a verification policy: the schemas and issuers that proofs are accepted of'
  static override description =
    'A credential must satisfy one of its constraints. Without any, the policy accepts every credential.'
  static override examples = [
    '<%= config.bin %> policy create --name licences --schema <guid> --trust-issuer did:prism:…',
    '<%= config.bin %> policy create --name licences --constraints @constraints.json',
  ]
  static override flags = {
    name: Flags.string({ required: true, description: 'what the policy is called' }),
    description: Flags.string({ default: '', description: 'what it is for' }),
    ...constraintFlags,
  }

  async run() {
    const { flags } = await this.parse(PolicyCreate)
    const { name, description } = flags
    const constraints = readConstraints(flags, this.access.url)
    const made = await this.call('POST /verification/policies', { body: { name, description, constraints } })
    this.print(made.id, policyFields(made))
    this.suggest(`agent proof request --policy ${made.id} --connection <id>`)
    return made
  }
}
