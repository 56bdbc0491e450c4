import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { policyFields } from '../../cli/format/administration.ts'
import { constraintFlags, readConstraints } from '../../cli/input/registry.ts'

export default defineCommand({
  summary: 'Create a verification policy: accepted schemas and trusted issuers',
  description:
    'A credential must satisfy at least one constraint. A policy without constraints accepts every credential.',
  examples: [
    'agent policy create --name licences --schema <guid> --trust-issuer did:prism:…',
    'agent policy create --name licences --constraints @constraints.json',
  ],
  flags: {
    name: Flags.string({ required: true, description: 'name of the policy' }),
    description: Flags.string({ default: '', description: 'description for people' }),
    ...constraintFlags,
  },
  async run({ flags, getAccess, call, print, suggest }) {
    const { name, description } = flags
    const constraints = readConstraints(flags, getAccess().url)
    const made = await call('POST /verification/policies', { body: { name, description, constraints } })
    print(made.id, policyFields(made))
    suggest(`agent proof request --policy ${made.id} --connection <id>`)
    return made
  },
})
