/**
 * Verifies status lists and reads the status of a credential in them (StatusList2021 §3.2, Bitstring Status
 * List 1.0 §3.2).
 *
 * A list is JSON with an embedded proof, or a JWT. An unsupported form is an error: it never counts as "not
 * revoked".
 */
import * as z from 'zod'
import { type Fault, faultsOf } from '../../foundation/faults.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { canonicalDid, Did, keysFor, type Resolve } from '../../did/document.ts'
import { ifValid, oneLine, validOnes } from '../../foundation/foreign.ts'
import { entryAt, expandBits } from './bitstring.ts'
import { checkSignature, resolveSigner } from './did-signature.ts'
import { type JsonObject, parseJson, withoutNulls } from '../../foundation/json.ts'
import { decodeJws } from './jws.ts'
import { type CredentialStatus, Digits, oneOrMore } from './jwt-vc.ts'
import { isProvedBy } from './status-list-2021.ts'
import { checkValidity, Instant, NumericDate, toValidity, type Validity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** The supported types of entries with the types of their lists. */
const listTypes = {
  StatusList2021Entry: 'StatusList2021',
  BitstringStatusListEntry: 'BitstringStatusList',
} as const
export type EntryType = keyof typeof listTypes

/** The most bits of an entry, so that its value is a number. */
const maxStatusSize = 32

const Entry = z.looseObject({
  type: z.enum(['StatusList2021Entry', 'BitstringStatusListEntry']),
  // The Cloud Agent writes `Revocation`.
  statusPurpose: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['revocation', 'suspension', 'message'])),
  statusListIndex: z.union([z.int().nonnegative(), Digits.transform(Number)]),
  statusListCredential: z.url(),
  /** The bits of each entry of the list. */
  statusSize: z.coerce.number().pipe(z.int().min(1).max(maxStatusSize)).default(1),
  /** Names of the values. */
  statusMessage: ifValid(validOnes(z.object({ status: z.string(), message: z.string() }))),
})
export type StatusEntry = z.infer<typeof Entry>

const ListSubject = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]),
  statusPurpose: z.union([z.string(), z.array(z.string())]),
  encodedList: z.string(),
})

const List = z.looseObject({
  id: z.string().optional(),
  type: oneOrMore(z.string(), ['StatusList2021Credential', 'BitstringStatusListCredential']),
  issuer: z.union([Did, z.looseObject({ id: Did }).transform(({ id }) => id)]),
  issuanceDate: Instant.optional(),
  expirationDate: Instant.optional(),
  validFrom: Instant.optional(),
  validUntil: Instant.optional(),
  credentialSubject: z.union([ListSubject, z.tuple([ListSubject]).transform(([subject]) => subject)]),
  proof: z.looseObject({ expires: Instant.optional() }).optional(),
})
type List = z.infer<typeof List>

const ListToken = z.looseObject({
  iss: Did.optional(),
  jti: z.string().optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  vc: z.looseObject({}).optional(),
})

/** `now` is in epoch seconds, `maxBytes` the size of the largest list, uncompressed. */
export type StatusListChecks = {
  resolve: Resolve
  now: number
  leewaySeconds?: number | undefined
  maxBytes?: number | undefined
}

/** The issuer of a credential, the certificates in its header, and the type of a document. */
export type CredentialIssuer = { issuerDid: string; x5c?: unknown; docType?: string }

/** Parses an entry of `credentialStatus`. @throws {VerificationError} `status` for an unsupported entry. */
export function readStatusEntry(status: CredentialStatus): StatusEntry {
  const { success, data, error } = Entry.safeParse(withoutNulls(status))
  if (success) return data
  const [{ path, message }] = faultsOf(error, 1) as [Fault]
  throw refused(
    path[0] === 'type'
      ? `credentialStatus.type: ${JSON.stringify(status.type.slice(0, 100))} is not supported; ${message}`
      : `credentialStatus.${path.join('.')}: ${message}`,
  )
}

/** A valid list says that the credential is revoked or suspended. */
export class RevokedError extends VerificationError {
  override name = 'RevokedError'
  readonly status: 'revoked' | 'suspended'

  constructor(status: RevokedError['status']) {
    super('status', `the credential is ${status}`)
    this.status = status
  }
}

/**
 * Checks that a credential is neither revoked nor suspended. `text` is the body at the URL of the list.
 *
 * @throws {RevokedError}
 * @throws {VerificationError} when the list is invalid or not the issuer's
 * @throws {Problem} `error:ServiceUnavailable` when the issuer's DID cannot be resolved for now
 */
export async function checkStatusList(
  text: string,
  entry: StatusEntry,
  { issuerDid }: CredentialIssuer,
  { resolve, now, leewaySeconds, maxBytes }: StatusListChecks,
): Promise<void> {
  const { list, validity, isSigned } = readStatusList(text)
  const { type, statusPurpose, encodedList } = list.credentialSubject
  // A Bitstring Status List may have no id (§2.2), a StatusList2021 must (§2.2).
  const isNamed = list.id !== undefined || entry.type === 'StatusList2021Entry'
  if (isNamed && list.id !== entry.statusListCredential) throw refused('the list at that URL has another id')
  if (canonicalDid(list.issuer) !== canonicalDid(issuerDid))
    throw refused('the list has another issuer than the credential')
  if (![type].flat().includes(listTypes[entry.type]))
    throw refused(`the list is not of the type ${listTypes[entry.type]}`)
  if (![statusPurpose].flat().some((purpose) => purpose.toLowerCase() === entry.statusPurpose)) {
    throw refused(`the list has another purpose than ${entry.statusPurpose}`)
  }
  checkValidity(validity, now, leewaySeconds)
  // The DID in the form of the credential: a list may contain a short form that was not published then.
  if (!(await isSigned(issuerDid, resolve)))
    throw refused('the list is not signed by an assertionMethod key of its issuer')
  const { statusListIndex, statusSize } = entry
  const value = orRefuse(() => entryAt(expandBits(encodedList, maxBytes), statusListIndex, statusSize))
  if (value === 0) return
  if (entry.statusPurpose === 'message') throw refused(describeValue(value, entry))
  throw new RevokedError(entry.statusPurpose === 'revocation' ? 'revoked' : 'suspended')
}

/** Describes a status other than 0. The credential is then not valid (Bitstring Status List 1.0 §3.2). */
function describeValue(value: number, { statusMessage = [] }: StatusEntry): string {
  const named = statusMessage.find(({ status }) => Number(status) === value)
  const message = named === undefined ? '' : `, ${JSON.stringify(oneLine(named.message, 100))}`
  return `the status of the credential is 0x${value.toString(16)}${message}`
}

/** Parses a list, JSON or a JWT. Verifies nothing. @throws {VerificationError} `status` */
export function readStatusList(text: string): Unverified {
  return orRefuse(() => (text.trim().startsWith('{') ? parseJsonList(text) : parseJwtList(text.trim())))
}

/** A parsed list. `isSigned` verifies its signature. */
type Unverified = {
  list: List
  validity: Validity
  isSigned: (issuerDid: string, resolve: Resolve) => Promise<boolean>
}

function parseJsonList(text: string): Unverified {
  const json = parseJson(Buffer.from(text)) as JsonObject
  const list = List.parse(withoutNulls(json))
  return {
    list,
    validity: toValidity(
      [list.issuanceDate, list.validFrom],
      [list.expirationDate, list.validUntil, list.proof?.expires],
    ),
    async isSigned(did, resolve) {
      const document = await resolveSigner({ did, role: 'issuer' }, resolve)
      const keys = keysFor(document, 'assertionMethod').map(({ publicKeyJwk }) => publicKeyJwk)
      return orRefuse(() => isProvedBy(json, keys))
    },
  }
}

/** The payload is a VC 2.0 credential, or has a VC 1.1 credential in `vc`. */
function parseJwtList(text: string): Unverified {
  const jws = decodeJws(text)
  const { iss, jti, nbf, exp, vc } = ListToken.parse(jws.payload)
  const list = List.parse(withoutNulls({ id: jti, issuer: iss, ...(vc ?? jws.payload) }))
  if (iss !== undefined && canonicalDid(iss) !== canonicalDid(list.issuer))
    throw refused('the issuer of the list is not its iss')
  return {
    list,
    validity: toValidity(
      [nbf, list.issuanceDate, list.validFrom],
      [exp, list.expirationDate, list.validUntil],
    ),
    isSigned: (did, resolve) => checkSignature(jws, { did, role: 'issuer' }, resolve).then(() => true),
  }
}

/** Converts errors of parsing to a `VerificationError`. */
function orRefuse<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (cause instanceof VerificationError) throw cause
    // The messages of JSON.parse quote the input.
    const reason = cause instanceof SyntaxError ? 'it is not JSON' : reasonOf(cause)
    throw new VerificationError('status', `the list is invalid: ${reason}`, { cause })
  }
}

function refused(reason: string): VerificationError {
  return new VerificationError('status', reason)
}
