/** Credential tokens, credential formats, and the automatic acceptance of offers, from flags. */
import * as Flags from '@oclif/core/flags'
import { isJsonObject, type JsonObject, tryParseJson } from '../../src/foundation/json.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import {
  type CredentialFormat,
  credentialFormats,
  defaultFormat,
  formatNames,
  isOverDidComm,
  isTokenFormat,
  type OpenIdFormat,
  type TokenFormat,
  tokenFormats,
} from '../../src/definitions/format-names.ts'
import type { Input } from '../client/api.ts'
import type { FlagValues } from '../define-command.ts'
import { UsageError } from '../errors/errors.ts'
import { repeatable } from './arguments.ts'
import { readInput } from './files.ts'

/**
 * Reads a credential: the token itself, `@path`, or `-` for standard input. @throws {UsageError} when it is
 * empty.
 */
export function readCredential(text: string): string {
  const path = text === '-' ? '-' : text.startsWith('@') ? text.slice(1) : undefined
  const given = (path === undefined ? text : readSource(path)).trim()
  if (given === '')
    throw new UsageError('There is no credential: give the token, @file, or - for standard input.')
  return given
}

/** Whether a text is a compact credential: `header.payload.signature`, followed by `~` for an SD-JWT. */
export function isToken(credential: string): boolean {
  const isCompact = /^[\w-]+\.[\w-]+\.[\w-]+(?:~[\w.~-]*)?$/.test(credential)
  return isCompact && typeof partOf(credential, 0)['alg'] === 'string'
}

/** The header (0) or the payload (1) of a compact JWT or SD-JWT. Empty if it cannot be read. */
export function partOf(credential: string, index: 0 | 1): JsonObject {
  const part = tryParseJson(Buffer.from(credential.split('.')[index] ?? '', 'base64url').toString())
  return isJsonObject(part) ? part : {}
}

/**
 * True when a credential names its schemas. The type (`vct`) of an SD-JWT does so if it is a URL of a schema
 * registry. A credential that cannot be decoded names none; the daemon reports why.
 */
export function namesSchemas(credential: string): boolean {
  const { vc, vct } = partOf(credential, 1)
  if (credential.includes('~')) return typeof vct === 'string' && /\bschema-registry\/schemas\//.test(vct)
  return isJsonObject(vc) && [vc['credentialSchema'] ?? []].flat().length > 0
}

function readSource(path: string): string {
  try {
    return readInput(path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`The file ${path} cannot be read: ${systemReason(error)}.`)
  }
}

/** Credential formats by their names in flags. */
export type FormatFlag = (typeof formatNames)[CredentialFormat]['flag']
export const formatsByFlag = Object.fromEntries(
  credentialFormats.map((format) => [formatNames[format].flag, format]),
) as Record<FormatFlag, CredentialFormat>
export const formatFlags = Object.keys(formatsByFlag) as FormatFlag[]

/** The formats of tokens by their names for people. */
export const tokenTitles: Readonly<Record<string, TokenFormat>> = Object.fromEntries(
  tokenFormats.map((format) => [formatNames[format].title, format]),
)

/** Those that are issued and presented over a connection. */
export const connectionTitles: Readonly<Record<string, TokenFormat>> = Object.fromEntries(
  Object.entries(tokenTitles).filter(([, format]) => isOverDidComm(format)),
)

/** The flag `--format`; `what` describes the formats other than JWT. */
export function formatFlag(what: string) {
  return Flags.option({ options: formatFlags })({
    description: `format of the credential: ${what}; default: jwt`,
  })
}

/** The format as a field of an API request; empty without the flag. */
export function toFormat(format: FormatFlag | undefined): { credentialFormat?: CredentialFormat } {
  return format === undefined ? {} : { credentialFormat: formatsByFlag[format] }
}

type Acceptance = NonNullable<
  NonNullable<Input<'PATCH /connections/{connectionId}'>['body']>['automaticAcceptance']
>

const dependsOn = ['accept-offers']

/** The flags that depend on `--accept-offers`. */
export const acceptanceFlags = {
  subject: Flags.string({
    dependsOn,
    description:
      'subject of the credentials: a DID of this wallet with an authentication key; not needed with --format anoncreds',
  }),
  'key-id': Flags.string({
    dependsOn,
    description: 'authentication key, such as auth-1, that signs and that an SD-JWT is bound to',
  }),
  format: Flags.option({ options: formatFlags, ...repeatable, dependsOn })({
    description: 'accept offers of this format only; default: any',
  }),
  schema: Flags.string({
    ...repeatable,
    dependsOn,
    description: 'accept offers of this schema only, by its URL in the offer; default: any',
  }),
  'trust-issuer': Flags.string({
    ...repeatable,
    dependsOn,
    description: 'DID of a trusted issuer; credentials of other issuers are refused; default: any',
  }),
}

/** For commands that create a connection. */
export const acceptOffersFlag = Flags.boolean({
  description: 'accept offers over this connection automatically',
})

type AcceptanceFlags = Partial<FlagValues<typeof acceptanceFlags>> & { 'accept-offers'?: boolean | undefined }

/** Reads the rule for automatic acceptance; undefined without `--accept-offers`. @throws {UsageError} */
export function readAcceptance({
  subject,
  'key-id': keyId,
  format,
  schema,
  'trust-issuer': trustedIssuers,
  ...flags
}: AcceptanceFlags): Acceptance | undefined {
  const isWanted = flags['accept-offers']
  if (isWanted === undefined) return undefined
  const rest = {
    subjectId: subject,
    keyId,
    credentialFormats: format?.map((name) => formatsByFlag[name]),
    schemaIds: schema,
    trustedIssuers,
  }
  if (
    isWanted &&
    subject === undefined &&
    format?.some((name) => isTokenFormat(formatsByFlag[name])) !== false
  )
    throw new UsageError(
      '--accept-offers needs --subject: a DID of this wallet as the subject of the credentials.',
    )
  if (!isWanted && Object.values(rest).some((value) => value !== undefined))
    throw new UsageError('--no-accept-offers cannot be combined with flags of the acceptance rule.')
  return { credentialOffers: isWanted, ...rest }
}

/** The format of a configuration of OpenID4VCI. @throws {UsageError} */
export function toOpenIdFormat(flag: FormatFlag | undefined): OpenIdFormat {
  const format = flag === undefined ? defaultFormat : formatsByFlag[flag]
  if (isTokenFormat(format)) return formatNames[format].openid.id
  const { title } = formatNames[format]
  const able = tokenFormats.map((each) => formatNames[each].flag).join(' or ')
  throw new UsageError(`OpenID4VCI has no ${title}: use --format ${able}.`)
}
