import * as Flags from '@oclif/core/flags'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { safe } from '../../cli/format/text.ts'
import { optionalArgument } from '../../cli/input/arguments.ts'
import { claimFlags, readClaims } from '../../cli/input/claims.ts'
import { readObject } from '../../cli/input/files.ts'
import { isGuid } from '../../cli/input/registry.ts'

const names = { SchemaCheck: 'usable', AuthorshipVerification: 'authorship', SubjectVerification: 'claims' }

export default defineCommand({
  summary: 'Validate a credential schema, its signature, and claims against it',
  description:
    'Exits with 8 if the schema cannot be used, its signature is not valid, or the claims do not match.',
  examples: [
    'agent schema validate <guid> --claim name=Alice --claim age:=42',
    'agent schema validate https://schemas.example/employee --signed',
    'agent schema validate --schema @employee.json --claims @alice.json',
  ],
  args: {
    schema: optionalArgument('guid of a schema on this agent, or a URL or DID URL'),
  },
  flags: {
    schema: Flags.string({
      description: 'the schema itself: @file.json, @- for standard input, or inline',
    }),
    ...claimFlags,
    signed: Flags.boolean({ description: 'require a signature of the author' }),
  },
  async run(context) {
    const { args, flags, call, print } = context

    if ((args.schema === undefined) === (flags.schema === undefined))
      throw new UsageError('Give the guid or URL of a schema, or --schema.')
    const hasClaims = flags.claim !== undefined || flags.claims !== undefined
    const checked = await call('POST /verification/schema', {
      body: {
        ...(await find(context, args.schema, flags.schema)),
        ...(hasClaims && { claims: readClaims(flags) }),
      },
    })
    const isWrong = ({ verification, success }: (typeof checked.result)[number]) =>
      !success && (verification !== 'AuthorshipVerification' || checked.isSigned || flags.signed)
    print(checked.result.every((each) => !isWrong(each)) ? 'valid' : 'invalid', [
      ['author', checked.author],
      ...checked.result.map(
        ({ verification, success, detail }) =>
          [names[verification], success ? 'ok' : safe(detail ?? '')] as const,
      ),
    ])
    if (checked.result.some(isWrong)) process.exitCode = 8
    return checked
  },
})

/**
 * The schema to validate. Reads the record of a guid here, because the daemon may not know its own URL for
 * this client.
 */
async function find({ call }: Context, named: string | undefined, sent: string | undefined) {
  if (named === undefined) return { schema: readObject('schema', sent!) }
  if (!isGuid(named)) return { schemaId: named }
  return { schema: await call('GET /schema-registry/schemas/{guid}', { path: { guid: named } }) }
}
