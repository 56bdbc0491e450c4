import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { checkFields } from '../../cli/format/credential.ts'
import { argument } from '../../cli/input/arguments.ts'
import { isToken, namesSchemas, readCredential } from '../../cli/input/credential.ts'

export default defineCommand({
  summary: 'Verify a credential of any issuer',
  description:
    'Exits with 8 if a check fails. AnonCreds credentials cannot be verified alone, only their proofs. Schemas and claims are checked if the credential names schemas; for an SD-JWT, the disclosed claims.',
  examples: [
    'agent credential verify @credential.jwt --issuer did:prism:…',
    'agent credential export <id> | agent credential verify -',
    'agent credential verify @credential.jwt --at 2030-01-01T00:00:00Z',
  ],
  args: {
    credential: argument('the credential, a compact JWT or SD-JWT; @file, or - for standard input'),
  },
  flags: {
    issuer: Flags.string({ description: 'DID that must have issued it' }),
    audience: Flags.string({
      description: 'DID of the required audience',
    }),
    at: Flags.string({
      description: 'instant at which it must be valid, such as 2030-01-01T00:00:00Z; default: now',
    }),
  },
  async run({ args, flags, call, print }) {
    const credential = readCredential(args.credential)
    if (credential.startsWith('{'))
      throw new UsageError(
        'An AnonCreds credential cannot be verified alone. The wallet verified it on receipt; request a proof of it from its holder.',
        'agent proof request --format anoncreds',
      )
    const instant = { parameterType: 'DateTimeParameter' as const, dateTime: readInstant(flags.at) }
    if (!isToken(credential))
      throw new CommandError(
        'This is not a credential: it has neither the form of a JWT (header.payload.signature) nor of an SD-JWT.',
        8,
      )
    const didOf = (did: string) => ({ parameterType: 'DidParameter' as const, did })
    const plain = (...names: ('SchemaCheck' | 'SubjectVerification')[]) =>
      names.map((verification) => ({ verification }))
    const [checked] = await call('POST /verification/credential', {
      body: [
        {
          credential,
          verifications: [
            { verification: 'SemanticCheckOfClaims' },
            { verification: 'AlgorithmVerification' },
            { verification: 'SignatureVerification' },
            { verification: 'IntegrityOfClaims' },
            { verification: 'ComplianceWithStandards' },
            { verification: 'NotBeforeCheck', parameter: instant },
            { verification: 'ExpirationCheck', parameter: instant },
            { verification: 'RevocationCheck' },
            ...(namesSchemas(credential) ? plain('SchemaCheck', 'SubjectVerification') : []),
            ...(flags.issuer === undefined
              ? []
              : [{ verification: 'IssuerIdentification' as const, parameter: didOf(flags.issuer) }]),
            ...(flags.audience === undefined
              ? []
              : [{ verification: 'AudienceCheck' as const, parameter: didOf(flags.audience) }]),
          ],
        },
      ],
    })
    const { result } = checked!
    const isValid = result.every(({ success }) => success)
    print(isValid ? 'valid' : 'invalid', checkFields(result))
    if (!isValid) process.exitCode = 8
    return { valid: isValid, ...checked! }
  },
})

/** @throws {UsageError} */
function readInstant(text: string | undefined): string {
  const instant = text === undefined ? new Date() : new Date(text)
  if (Number.isNaN(instant.getTime()))
    throw new UsageError(`--at: ${text} is not an instant such as 2030-01-01T00:00:00Z.`)
  return instant.toISOString()
}
