/** The content of verification policies from flags. */
import * as Flags from '@oclif/core/flags'
import type { Input } from '../client/answer.ts'
import { UsageError } from '../errors/usage.ts'
import { readJson } from './json.ts'
import { schemaUrl } from './schema.ts'

type Constraints = NonNullable<Input<'POST /verification/policies'>['body']['constraints']>

/** What a policy accepts: one schema with its issuers, or everything as JSON. */
export const constraintFlags = {
  schema: Flags.string({
    exclusive: ['constraints'],
    description: 'schema of the credentials that are accepted: its guid here, or a URL',
  }),
  'trust-issuer': Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    dependsOn: ['schema'],
    description: 'issuer whose credentials of the schema are accepted; any when left out',
  }),
  constraints: Flags.string({
    description:
      'all constraints as a JSON list of {"schemaId", "trustedIssuers"}: @file.json, @- for standard input, or written out',
  }),
}

/** The constraints that the flags name; nothing when they name none. @throws {UsageError} */
export function readConstraints(
  flags: {
    schema?: string | undefined
    'trust-issuer'?: string[] | undefined
    constraints?: string | undefined
  },
  baseUrl: string,
): Constraints | undefined {
  if (flags.schema !== undefined)
    return [{ schemaId: schemaUrl(flags.schema, baseUrl), trustedIssuers: flags['trust-issuer'] ?? [] }]
  if (flags.constraints === undefined) return undefined
  const constraints = readJson('constraints', flags.constraints)
  if (!Array.isArray(constraints))
    throw new UsageError('--constraints is not a JSON list such as [{"schemaId": "https://…"}].')
  // What is in them is for the daemon to judge.
  return constraints as Constraints
}
