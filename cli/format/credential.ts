/** Formats the content of credentials: status, validity, claims and verification results. */
import { isJsonObject } from '../../src/foundation/json.ts'
import type { Answer } from '../client/api.ts'
import { inStyle, type Styled } from './colour.ts'
import { ago, ahead } from './time.ts'
import { safeLine } from './text.ts'

export type CredentialContent = Answer<'GET /issue-credentials/records/{recordId}/credential'>

// prettier-ignore
const standings: Record<CredentialContent['standing']['status'], string> = {
  'not-revoked': 'not revoked',
  'revoked':     'revoked',
  'suspended':   'suspended',
  'unknown':     'cannot be known',
}

/** Returns the revocation status, such as `cannot be known: its host answered with status 503`. */
export function standingOf({ standing: { status, detail } }: CredentialContent): string {
  return detail === undefined ? standings[status] : `${standings[status]}: ${detail}`
}

/** Returns the coloured `standingOf`. */
export function shownStanding(content: CredentialContent): Styled {
  const { status } = content.standing
  return inStyle(
    status === 'not-revoked' ? 'good' : status === 'unknown' ? 'waiting' : 'bad',
    standingOf(content),
  )
}

/**
 * Returns the validity period, such as `valid until 2026-11-24T08:00:00.000Z, in 3 d`. `now` is in
 * milliseconds.
 */
export function validityOf(
  { validFrom, validUntil }: Pick<CredentialContent, 'validFrom' | 'validUntil'>,
  now: number,
): string {
  if (validUntil !== undefined && Date.parse(validUntil) <= now)
    return `expired ${ago(validUntil, now)}, valid until ${validUntil}`
  if (validFrom !== undefined && Date.parse(validFrom) > now)
    return `not valid yet, from ${validFrom}, ${ahead(validFrom, now)}`
  return validUntil === undefined ? 'never expires' : `valid until ${validUntil}, ${ahead(validUntil, now)}`
}

/** Returns the paths of the selectively disclosable claims. Undefined for formats that disclose all. */
export function disclosableOf({ disclosable }: CredentialContent): string | undefined {
  if (disclosable === undefined) return undefined
  if (disclosable.length === 0) return 'none'
  return disclosable
    .map((path) => pathOf(path.length === 2 && path[0]!.includes('.') ? path.slice(1) : path))
    .join(' ')
}

type Pair = readonly [name: string, value: unknown]

/** Formats claims in one line: `name=Alice age=42`. Of an mdoc without their namespaces. */
export function claimsLine(claims: Readonly<Record<string, unknown>>): string {
  return claimWords(claims).join(' ')
}

/** Formats each claim: `name=Alice`, `age=42`. */
export function claimWords(claims: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(claims)
    .flatMap(([name, value]) => (isNamespace(name, value) ? Object.entries(value) : [[name, value] as const]))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? shortText(value) : JSON.stringify(value)}`)
}

/** Whether a claim is a namespace of an mdoc, such as `org.iso.18013.5.1`, with its elements. */
function isNamespace(name: string, value: unknown): value is Readonly<Record<string, unknown>> {
  return name.includes('.') && isJsonObject(value) && Object.keys(value).length > 0
}

/** The longest base64url that is shown whole. */
const longestBytes = 100

/** A text, or the size of the bytes that it stands for, such as a picture. */
function shortText(text: string): string {
  if (text.length <= longestBytes || !/^[\w-]+$/.test(text)) return text
  const bytes = Buffer.from(text, 'base64url')
  const kind = [...pictures].find(([begin]) => bytes.subarray(0, begin.length / 2).toString('hex') === begin)
  return `${kind?.[1] ?? 'binary data'}, ${bytes.length} bytes`
}

/** The first bytes of pictures in hexadecimal. */
const pictures = new Map([
  ['ffd8ff', 'JPEG'],
  ['0000000c6a502020', 'JPEG 2000'],
  ['89504e47', 'PNG'],
])

/**
 * A claim within others by its path, such as `address.city`. A dot in a name is written `\.`, as `--claim`
 * reads it.
 */
export function pathOf(names: readonly string[]): string {
  return names.map((name) => safeLine(name).replaceAll('.', '\\.')).join('.')
}

/**
 * Names and values of claims, such as `claim address.city`; lists stay whole. The elements of an mdoc follow
 * their namespace.
 */
export function claimPairs(claims: Readonly<Record<string, unknown>>, above = 'claim '): Pair[] {
  return Object.entries(claims).flatMap(([name, value]): Pair[] => {
    if (isNamespace(name, value)) return [['namespace', name], ...claimPairs(value, above)]
    const path = above + pathOf([name])
    const isObject =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    if (isObject) return claimPairs(value as Record<string, unknown>, `${path}.`)
    return [[path, typeof value === 'string' ? shortText(value) : value]]
  })
}

type Result = Answer<'POST /verification/credential'>[number]['result'][number]

/** The label of each check, and its texts for success, and for failure without a reason. */
// prettier-ignore
const words: Record<Result['verification'], [about: string, yes: string, no: string]> = {
  SemanticCheckOfClaims:   ['content',    'a verifiable credential that can be read',       'not a verifiable credential, or it contradicts itself'],
  AlgorithmVerification:   ['algorithm',  'one that may sign credentials',                  'none that may sign credentials'],
  SignatureVerification:   ['signature',  'made by a key of its issuer',                    'not made by a key of its issuer (a key binding: of its holder), or the issuer’s DID does not resolve'],
  IntegrityOfClaims:       ['integrity',  'nothing was changed, and no claim contradicts another', 'something was changed, or its claims contradict each other'],
  ComplianceWithStandards: ['standard',   'as the W3C data model, or SD-JWT VC, has it',     'not as the W3C data model, or SD-JWT VC, has it'],
  NotBeforeCheck:          ['valid from', 'its time has begun',                             'its time has not begun'],
  ExpirationCheck:         ['valid until', 'its time has not ended',                        'its time has ended'],
  RevocationCheck:         ['status',     'not revoked',                                    'revoked, suspended, or its status cannot be found out'],
  SchemaCheck:             ['schemas',    'all are there',                                  'one is not there, or is none'],
  SubjectVerification:     ['claims',     'fit the schemas',                                'do not fit the schemas'],
  IssuerIdentification:    ['issuer',     'the one you named',                              'another than you named'],
  AudienceCheck:           ['audience',   'whom you named',                                 'others than you named'],
}

/** Returns the fields of verification results. For an unreadable credential, the other checks are not made. */
export function checkFields(results: readonly Result[]): [name: string, value: Styled][] {
  const isUnreadable = results.some(
    ({ verification, success }) => verification === 'SemanticCheckOfClaims' && !success,
  )
  return results.map(({ verification, success, detail }) => {
    const [about, yes, no] = words[verification]
    if (success) return [about, inStyle('good', `ok: ${yes}`)]
    return isUnreadable && verification !== 'SemanticCheckOfClaims'
      ? [about, inStyle('faint', 'not checked')]
      : [
          about,
          inStyle('bad', `NO: ${detail?.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()) ?? no}`),
        ]
  })
}
