/**
 * Status lists as CBOR Web Tokens, to which mdocs refer (ISO/IEC 18013-5, second edition, §12.3.6): Token
 * Status Lists (draft-ietf-oauth-status-list §5.2), written and read, and lists of revoked identifiers, read.
 */
import * as z from 'zod'
import { type CborLimits, type CborMap, type CborValue } from '../../foundation/cbor/index.ts'
import {
  claim,
  CoseError,
  type CoseSign1,
  type CoseWarning,
  header,
  readCwt,
  readX5chain,
  signCwt,
  toX5chain,
  verifySign1,
} from '../../foundation/cose/index.ts'
import { isMediaType } from '../../foundation/media-type.ts'
import type { VerifyChain } from './issuer-signature.ts'
import { parseClaims } from './jws.ts'
import { type CredentialIssuer, RevokedError, type StatusListChecks } from './status-list.ts'
import {
  Bits,
  checkListClaims,
  checkListed,
  type TokenStatusListContent,
  type TokenStatusReference,
} from './token-status-list.ts'
import { NumericDate } from './validity.ts'
import { VerificationError } from './verification-error.ts'

export const statusListCwtType = 'application/statuslist+cwt'
export const identifierListCwtType = 'application/identifierlist+cwt'

/** Claims of lists, beside those that all tokens have. */
const listClaim = { identifierList: 65_530, statusList: 65_533, ttl: 65_534 } as const

/** Of 25,000 revoked identifiers, each with its empty map. */
const limits: Partial<CborLimits> = { items: 50_000 }

const Bytes = z.instanceof(Uint8Array, { error: 'is not a byte string' })

/** Lists in CWTs end: `exp` is required. */
const Claims = z.object({
  sub: z.string(),
  iss: z.string().optional(),
  iat: NumericDate,
  nbf: NumericDate.optional(),
  exp: NumericDate,
  ttl: z.number().positive().optional(),
})
const StatusListClaims = Claims.extend({ status_list: z.object({ bits: Bits, lst: Bytes }) })
const IdentifierListClaims = Claims.extend({
  identifier_list: z.object({ identifiers: z.map(Bytes, z.unknown()) }),
})

/** A reference to a list of revoked identifiers. */
export type IdentifierReference = { id: Uint8Array; uri: string }

/** `type-missing`: the header `typ` (16) is missing, or is among the claims. */
export type ListWarning = CoseWarning | 'type-missing'

/** A list that is not verified. */
type UnverifiedList<Claims> = {
  sign1: CoseSign1
  x5c: string[] | undefined
  claims: Claims
  /** Deviations that a strict reader refuses. */
  warnings: ListWarning[]
}

/** Reads a Token Status List. @throws {VerificationError} `malformed`, `status` */
export function readStatusListCwt(bytes: Uint8Array): UnverifiedList<z.infer<typeof StatusListClaims>> {
  const { claims, ...list } = readList(bytes, statusListCwtType)
  return { ...list, claims: parseClaims(StatusListClaims, toNames(claims)) }
}

/** Reads a list of revoked identifiers. @throws {VerificationError} `malformed`, `status` */
export function readIdentifierListCwt(
  bytes: Uint8Array,
): UnverifiedList<z.infer<typeof IdentifierListClaims>> {
  const { claims, ...list } = readList(bytes, identifierListCwtType)
  return { ...list, claims: parseClaims(IdentifierListClaims, toNames(claims)) }
}

function readList(bytes: Uint8Array, type: string): UnverifiedList<CborMap> {
  const warnings: ListWarning[] = []
  try {
    const { sign1, claims } = readCwt(bytes, { warn: (warning) => warnings.push(warning), limits })
    // Implementations differ in the header that they write the certificates to.
    const x5c = readX5chain(sign1)
    const typ = sign1.protected.get(header.typ)
    if (typ === undefined) warnings.push('type-missing')
    const found = typ ?? claims.get(header.typ)
    if (found !== undefined && !isMediaType(found, type)) throw refused(`its type is not ${type}`)
    return { sign1, x5c, claims, warnings }
  } catch (cause) {
    if (!(cause instanceof CoseError)) throw cause
    throw new VerificationError('malformed', `The status list is not a CWT: ${cause.message}`, { cause })
  }
}

/** Claims by their names in a JWT. */
function toNames(claims: CborMap): Record<string, unknown> {
  const { iss, sub, exp, nbf, iat } = claim
  const numbers = { iss, sub, exp, nbf, iat, ttl: listClaim.ttl }
  return {
    ...Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, claims.get(number)])),
    status_list: toObject(claims.get(listClaim.statusList)),
    identifier_list: toObject(claims.get(listClaim.identifierList)),
  }
}

function toObject(value: CborValue): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value
}

type ListChecks = Omit<StatusListChecks, 'resolve'> & { verifyChain?: VerifyChain | undefined }

/**
 * Checks that a credential is neither invalid nor suspended. `bytes` are the body at the URI of the
 * reference. The list is signed by the key of the first certificate in its x5chain.
 *
 * @throws {RevokedError}
 * @throws {VerificationError} when the list is malformed, not the issuer's, or has another status
 */
export async function checkStatusListCwt(
  bytes: Uint8Array,
  { idx, uri }: Pick<TokenStatusReference, 'idx' | 'uri'>,
  credential: CredentialIssuer,
  checks: ListChecks,
): Promise<void> {
  const list = readStatusListCwt(bytes)
  await checkList(list, uri, credential, checks)
  checkListed(list.claims.status_list, idx, checks.maxBytes)
}

/**
 * Checks that a credential is not in a list of revoked identifiers. `bytes` are the body at the URI of the
 * reference.
 *
 * @throws {RevokedError}
 * @throws {VerificationError} when the list is malformed, or not the issuer's
 */
export async function checkIdentifierListCwt(
  bytes: Uint8Array,
  { id, uri }: IdentifierReference,
  credential: CredentialIssuer,
  checks: ListChecks,
): Promise<void> {
  const list = readIdentifierListCwt(bytes)
  await checkList(list, uri, credential, checks)
  for (const revoked of list.claims.identifier_list.identifiers.keys())
    if (Buffer.compare(revoked, id) === 0) throw new RevokedError('revoked')
}

async function checkList(
  { sign1, x5c, claims }: UnverifiedList<z.infer<typeof Claims>>,
  uri: string,
  credential: CredentialIssuer,
  { verifyChain, ...times }: ListChecks,
): Promise<void> {
  checkListClaims(claims, uri, credential, times)
  if (x5c === undefined || !verifyChain)
    throw new VerificationError(
      'issuer-not-trusted',
      x5c === undefined
        ? 'The status list has no certificates in x5chain'
        : 'No certificates are trusted here',
    )
  const { publicKey } = await verifyChain(x5c, credential.issuerDid, { credential })
  if (!verifySign1(sign1, publicKey))
    throw new VerificationError(
      'signature',
      'The key of the first certificate in x5chain did not sign the status list',
    )
}

/**
 * Signs a Token Status List, with tag 18. The certificates are in the protected header, where readers of such
 * lists look. Times are in seconds.
 *
 * @throws {CoseError} for a key that does not sign in COSE here
 */
export function signStatusListCwt(
  content: Omit<TokenStatusListContent, 'issuer' | 'kid' | 'x5c' | 'expiresAt'> & {
    x5c: readonly string[]
    expiresAt: number
  },
): Uint8Array {
  const { url, x5c, key, bits, lst, issuedAt, expiresAt, ttlSeconds } = content
  const claims: CborMap = new Map<CborValue, CborValue>([
    [claim.sub, url],
    [claim.iat, issuedAt],
    [claim.exp, expiresAt],
    [listClaim.ttl, ttlSeconds],
    [listClaim.statusList, new Map<CborValue, CborValue>(Object.entries({ bits, lst }))],
  ])
  const headers = new Map<CborValue, CborValue>([
    [header.typ, statusListCwtType],
    [header.x5chain, toX5chain(x5c)],
  ])
  return signCwt(claims, { key, protected: headers })
}

function refused(reason: string): VerificationError {
  return new VerificationError('status', `the status list is refused: ${reason}`)
}
