import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { policyFields } from '../../cli/format/administration.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { constraintFlags, readConstraints } from '../../cli/input/registry.ts'

export default defineCommand({
  summary: 'Change a verification policy',
  description: 'Values that no flag names stay. Existing proof requests keep the earlier version.',
  examples: ['agent policy update <id> --constraints "[]"'],
  args: idOf('policy'),
  flags: {
    name: Flags.string({ description: 'name of the policy' }),
    description: Flags.string({ description: 'description for people' }),
    ...constraintFlags,
    version: Flags.integer({
      min: 0,
      description: 'require this current version; exits with 5 if there is a later one',
    }),
  },
  async run({ args, flags, getAccess, call, print }) {
    const { name, description } = flags
    const constraints = readConstraints(flags, getAccess().url)
    if (name === undefined && description === undefined && constraints === undefined)
      throw new UsageError(
        'There is nothing to change: give --name, --description, --schema or --constraints.',
      )
    const path = { id: args.id }
    const known = await call('GET /verification/policies/{id}', { path })
    const changed = await call('PUT /verification/policies/{id}', {
      path,
      query: { nonce: flags.version ?? known.nonce },
      body: {
        name: name ?? known.name,
        description: description ?? known.description,
        constraints: constraints ?? known.constraints,
      },
    })
    print(changed.id, policyFields(changed))
    return changed
  },
})
