/**
 * Token Status Lists (draft-ietf-oauth-status-list), the JWT form: building, signing and checking. An entry
 * has 1, 2, 4 or 8 bits. Entries begin at the least significant bit of the first byte; the compression is
 * zlib (RFC 1950).
 */
import { constants, deflateSync, inflateSync } from 'node:zlib'
import * as z from 'zod'
import { fromBase64, toBase64url } from '../../foundation/bytes.ts'
import { firstFault } from '../../foundation/faults.ts'
import { isMediaType } from '../../foundation/media-type.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import { defaultListBytes } from './bitstring.ts'
import { checkIssuerSignature, IssuerId, type IssuerKeys } from './issuer-signature.ts'
import { decodeJws, parseClaims, signJws } from './jws.ts'
import type { CredentialStatus } from './jwt-vc.ts'
import { type CredentialIssuer, type EntryType, RevokedError, type StatusListChecks } from './status-list.ts'
import { checkValidity, NumericDate, toValidity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

export const Bits = z.union([z.literal(1), z.literal(2), z.literal(4), z.literal(8)])
export type StatusBits = z.infer<typeof Bits>

export const tokenStatusListType = 'statuslist+jwt'

/** The claim `status` of a credential. */
const StatusClaim = z.looseObject({
  status_list: z.looseObject(
    { idx: z.int().nonnegative(), uri: z.url() },
    {
      error: (issue) =>
        issue.input === undefined ? 'is missing, and no other kind of status is supported' : undefined,
    },
  ),
})
export type TokenStatusReference = z.infer<typeof StatusClaim>['status_list']

/** The type of a reference among the status entries of a decoded credential, and that of another `status`. */
export const tokenStatusEntry = 'status_list'
export const unknownStatusEntry = 'status'
/** References of documents: to a list as CWT, and to a list of revoked identifiers (ISO/IEC 18013-5). */
export const [cwtStatusEntry, identifierEntry] = ['status_list+cwt', 'identifier_list'] as const

/** The types of entries whose lists are read. Lists of the last two are binary: they are given in base64. */
export type ListType = EntryType | typeof tokenStatusEntry | typeof cwtStatusEntry | typeof identifierEntry

/** The entry of a `status`, whatever it is: `readTokenStatus` refuses what is not a reference. */
export function toStatusEntry(status: unknown): CredentialStatus {
  const { data } = StatusClaim.safeParse(status)
  if (!data) return { type: unknownStatusEntry, status }
  const { idx, uri } = data.status_list
  return { type: tokenStatusEntry, status, statusListIndex: idx, statusListCredential: uri }
}

/** @throws {VerificationError} `status`, naming the member that is not supported */
export function readTokenStatus({ status }: CredentialStatus): TokenStatusReference {
  const { data, error } = StatusClaim.safeParse(status)
  if (data) return data.status_list
  throw new VerificationError('status', firstFault(error, 'status'))
}

const IdentifierClaim = z.looseObject({
  identifier_list: z.looseObject({ id: z.string().regex(/^[\w-]*$/), uri: z.url() }),
})

/** The identifier of a document, in base64url in its status. @throws {VerificationError} `status` */
export function readIdentifier({ status }: CredentialStatus): { id: Uint8Array; uri: string } {
  const { data, error } = IdentifierClaim.safeParse(status)
  if (!data) throw new VerificationError('status', firstFault(error, 'status'))
  const { id, uri } = data.identifier_list
  return { id: fromBase64(id), uri }
}

/** The claims of a list. */
export const ListToken = z.looseObject({
  sub: z.string(),
  iss: IssuerId.optional(),
  iat: NumericDate,
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  ttl: z.number().positive().optional(),
  status_list: z.looseObject({ bits: Bits, lst: z.string() }),
})

/** The entries of a list, compressed: bytes in a CWT, base64url in a JWT. */
type CompressedStatuses = { bits: StatusBits; lst: Uint8Array | string }

/** Status types that the draft defines. */
const [valid, invalid, suspended] = [0, 1, 2]

/**
 * Compresses a list of `length` entries. Entries without a value are 0, valid.
 *
 * @throws {RangeError} for an index outside the list, or a value that needs more bits
 */
export function compressStatuses(
  entries: Iterable<readonly [index: number, value: number]>,
  bits: StatusBits,
  length: number,
): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((length * bits) / 8))
  for (const [index, value] of entries) {
    if (!Number.isInteger(index) || index < 0 || index >= length)
      throw new RangeError(`${index} is not an index of the status list`)
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits)
      throw new RangeError(`${value} is not a status of ${bits} bits`)
    bytes[Math.floor((index * bits) / 8)]! |= value << ((index * bits) % 8)
  }
  return deflateSync(bytes, { level: constants.Z_BEST_COMPRESSION })
}

/**
 * Reads the entry at an index of a compressed list, in bytes or base64url.
 *
 * @throws {TypeError} when there is none
 */
export function readStatus(
  { bits, lst }: CompressedStatuses,
  index: number,
  maxBytes = defaultListBytes,
): number {
  const byte = inflate(bytesOf(lst), maxBytes)[Math.floor((index * bits) / 8)]
  if (byte === undefined) throw new TypeError(`the status list has no entry with the index ${index}`)
  return (byte >> ((index * bits) % 8)) & (2 ** bits - 1)
}

/**
 * The number of entries with each status. Entries that only fill the last byte count too.
 *
 * @throws {TypeError}
 */
export function countStatuses({ bits, lst }: CompressedStatuses): Map<number, number> {
  const counts = new Map<number, number>()
  for (const byte of inflate(bytesOf(lst), defaultListBytes))
    for (let shift = 0; shift < 8; shift += bits) {
      const status = (byte >> shift) & (2 ** bits - 1)
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  return counts
}

/** `lst` is compressed. The header has `kid`, a DID URL, or `x5c`. Times are in seconds. */
export type TokenStatusListContent = {
  url: string
  issuer: string
  kid?: string | undefined
  x5c?: readonly string[] | undefined
  key: PrivateJwk
  bits: StatusBits
  lst: Uint8Array
  issuedAt: number
  expiresAt?: number
  ttlSeconds: number
}

/** Signs a list. Returns the compact JWT. */
export function signTokenStatusList(content: TokenStatusListContent): string {
  const { url, issuer, kid, x5c, key, bits, lst, issuedAt, expiresAt, ttlSeconds } = content
  const claims = {
    iss: issuer,
    sub: url,
    iat: issuedAt,
    ...(expiresAt !== undefined && { exp: expiresAt }),
    ttl: ttlSeconds,
    status_list: { bits, lst: toBase64url(lst) },
  }
  return signJws({ typ: tokenStatusListType, kid, x5c }, claims, key)
}

/**
 * Checks that a credential is neither invalid nor suspended. `text` is the body at the URI of the reference.
 *
 * @throws {RevokedError}
 * @throws {VerificationError} when the list is malformed, not the issuer's, or has another status
 * @throws {Problem} `error:ServiceUnavailable` when the issuer's DID cannot be resolved for now
 */
export async function checkTokenStatus(
  text: string,
  { idx, uri }: TokenStatusReference,
  credential: CredentialIssuer,
  { now, leewaySeconds, maxBytes, resolve, verifyChain }: StatusListChecks & IssuerKeys,
): Promise<void> {
  const jws = decodeJws(text.trim())
  if (!isMediaType(jws.header.typ, tokenStatusListType))
    throw refused(`its type is not ${tokenStatusListType}`)
  const { status_list: list, ...claims } = parseClaims(ListToken, jws.payload)
  checkListClaims(claims, uri, credential, { now, leewaySeconds })
  await checkIssuerSignature(jws, credential.issuerDid, {
    resolve,
    verifyChain: verifyChain && ((x5c, issuer) => verifyChain(x5c, issuer, { credential })),
  })
  checkListed(list, idx, maxBytes)
}

/** Claims that lists of all forms have. */
type ListClaims = Pick<z.infer<typeof ListToken>, 'sub' | 'iss' | 'iat' | 'nbf' | 'exp'>

/**
 * Checks that a list is the one at a URI, of the credential's issuer, and valid now.
 *
 * @throws {VerificationError}
 */
export function checkListClaims(
  { sub, iss, iat, nbf, exp }: ListClaims,
  uri: string,
  { issuerDid }: CredentialIssuer,
  { now, leewaySeconds }: Pick<StatusListChecks, 'now' | 'leewaySeconds'>,
): void {
  if (sub !== uri) throw refused('its sub is not the URI in the credential')
  // Beside certificates, iss says nothing.
  const isOther = iss !== undefined && canonicalDid(iss) !== canonicalDid(issuerDid)
  if (isOther && issuerDid.startsWith('did:')) throw refused('it has another issuer than the credential')
  checkValidity(toValidity([iat, nbf], [exp]), now, leewaySeconds)
}

/**
 * Checks that the entry of a credential is valid.
 *
 * @throws {RevokedError}
 * @throws {VerificationError} `status` for another status, or none
 */
export function checkListed(list: CompressedStatuses, index: number, maxBytes: number | undefined): void {
  const status = orRefuse(() => readStatus(list, index, maxBytes))
  if (status === valid) return
  if (status === invalid) throw new RevokedError('revoked')
  if (status === suspended) throw new RevokedError('suspended')
  throw refused(`the status ${status} of the credential is not known here`)
}

function bytesOf(lst: Uint8Array | string): Uint8Array {
  return typeof lst === 'string' ? fromBase64(lst) : lst
}

function inflate(bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    const isTooLong = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new TypeError(isTooLong ? `it is longer than ${maxBytes} bytes` : 'it is not zlib', { cause })
  }
}

function orRefuse<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw refused((cause as Error).message, cause)
  }
}

function refused(reason: string, cause?: unknown): VerificationError {
  return new VerificationError('status', `the token status list is refused: ${reason}`, { cause })
}
