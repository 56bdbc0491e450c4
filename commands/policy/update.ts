/** `agent policy update` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { policyFields } from '../../cli/format/policy.ts'
import { constraintFlags, readConstraints } from '../../cli/input/registry.ts'

export default class PolicyUpdate extends AgentCommand {
  static override summary = 'Change a verification policy; what is not named stays'
  static override description = 'Proof requests that were made with the policy keep what it said then.'
  static override examples = ['<%= config.bin %> policy update <id> --constraints "[]"']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the policy' }),
  }
  static override flags = {
    name: Flags.string({ description: 'what the policy is called' }),
    description: Flags.string({ description: 'what it is for' }),
    ...constraintFlags,
    version: Flags.integer({
      min: 0,
      description: 'change this version alone; 5 is the exit code when there is a later one',
    }),
  }

  async run() {
    const { args, flags } = await this.parse(PolicyUpdate)
    const { name, description } = flags
    const constraints = readConstraints(flags, this.access.url)
    if (name === undefined && description === undefined && constraints === undefined)
      throw new UsageError(
        'There is nothing to change: give --name, --description, --schema or --constraints.',
      )
    const path = { id: args.id }
    const known = await this.call('GET /verification/policies/{id}', { path })
    const changed = await this.call('PUT /verification/policies/{id}', {
      path,
      query: { nonce: flags.version ?? known.nonce },
      body: {
        name: name ?? known.name,
        description: description ?? known.description,
        constraints: constraints ?? known.constraints,
      },
    })
    this.print(changed.id, policyFields(changed))
    return changed
  }
}
