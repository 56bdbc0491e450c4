/** Which offers over a connection are accepted without a person, from flags. */
import * as Flags from '@oclif/core/flags'
import type { Input } from '../client/answer.ts'
import { UsageError } from '../errors/usage.ts'
import { formatNames, formats } from './format.ts'

type Acceptance = NonNullable<
  NonNullable<Input<'PATCH /connections/{connectionId}'>['body']>['automaticAcceptance']
>

const many = { multiple: true, multipleNonGreedy: true } as const
const dependsOn = ['accept-offers']

/** What goes with `--accept-offers`. */
export const acceptanceFlags = {
  subject: Flags.string({
    dependsOn,
    description:
      'whom the credentials are about: a DID of this wallet with an authentication key; not needed with --format anoncreds alone',
  }),
  'key-id': Flags.string({
    dependsOn,
    description: 'authentication key, such as auth-1, that signs, and that an SD-JWT is bound to',
  }),
  format: Flags.option({ options: formatNames, ...many, dependsOn })({
    description: 'accept offers of this format alone; any when left out',
  }),
  schema: Flags.string({
    ...many,
    dependsOn,
    description: 'accept offers of this schema alone, by its URL in the offer; any when left out',
  }),
  'trust-issuer': Flags.string({
    ...many,
    dependsOn,
    description:
      'keep credentials of this issuer alone, by its DID, and refuse those of another one; of any when left out',
  }),
}

/** Where a connection is made; to change it there is `connection update`. */
export const acceptOffersFlag = Flags.boolean({
  description: 'accept offers over this connection without a person',
})

type Given = {
  'accept-offers'?: boolean | undefined
  subject?: string | undefined
  'key-id'?: string | undefined
  format?: (keyof typeof formats)[] | undefined
  schema?: string[] | undefined
  'trust-issuer'?: string[] | undefined
}

/** What the flags say; nothing when they say nothing. @throws {UsageError} */
export function readAcceptance({
  subject,
  'key-id': keyId,
  format,
  schema,
  'trust-issuer': trustedIssuers,
  ...flags
}: Given): Acceptance | undefined {
  const isWanted = flags['accept-offers']
  if (isWanted === undefined) return undefined
  const rest = {
    subjectId: subject,
    keyId,
    credentialFormats: format?.map((name) => formats[name]),
    schemaIds: schema,
    trustedIssuers,
  }
  if (isWanted && subject === undefined && format?.some((name) => name !== 'anoncreds') !== false)
    throw new UsageError(
      '--accept-offers needs --subject: a DID of this wallet, which the credentials are to be about.',
    )
  if (!isWanted && Object.values(rest).some((value) => value !== undefined))
    throw new UsageError('--no-accept-offers goes with no other flag of the acceptance: it accepts none.')
  return { credentialOffers: isWanted, ...rest }
}
