/**
 * The status of a credential in a list (StatusList2021 §3.2, Bitstring Status List 1.0 §3.2): what the list must be for its bits to count, and what they say.
 *
 * Lists come as JSON with an embedded proof or as JWT. Whatever is not understood is refused: a status that cannot be established is none.
 */
import { z } from 'zod'
import { reasonOf } from '../base/reason.ts'
import { canonicalDid, Did, keysFor, type Resolve } from '../did/document.ts'
import { expandBits, isSet } from './bitstring.ts'
import { type CredentialStatus, type DecodedCredential, oneOrMore } from './credential.ts'
import { checkSignature, resolveSigner } from './did-signature.ts'
import { type JsonObject, parseJson } from '../base/json.ts'
import { decodeJws } from './jws.ts'
import { isProvedBy } from './status-list-proof.ts'
import { checkValidity, Instant, NumericDate, toValidity, type Validity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** The types of entries that are understood, each with the type of list that it is in. */
const listTypes = {
  StatusList2021Entry: 'StatusList2021',
  BitstringStatusListEntry: 'BitstringStatusList',
} as const
export type EntryType = keyof typeof listTypes

const Entry = z.looseObject({
  type: z.enum(['StatusList2021Entry', 'BitstringStatusListEntry']),
  // The real agent writes them with a capital (wire.md 8.2).
  statusPurpose: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['revocation', 'suspension'])),
  statusListIndex: z.union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ]),
  statusListCredential: z.string(),
  statusSize: z.union([z.literal(1), z.literal('1')]).optional(),
})
export type StatusEntry = z.infer<typeof Entry>

const List = z.looseObject({
  id: z.string(),
  type: oneOrMore(z.string(), ['StatusList2021Credential', 'BitstringStatusListCredential']),
  issuer: z.union([Did, z.looseObject({ id: Did }).transform(({ id }) => id)]),
  issuanceDate: Instant.optional(),
  expirationDate: Instant.optional(),
  validFrom: Instant.optional(),
  validUntil: Instant.optional(),
  credentialSubject: z.looseObject({
    type: z.string(),
    statusPurpose: z.union([z.string(), z.array(z.string())]),
    encodedList: z.string(),
  }),
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

/** `now` is in epoch seconds. */
export type StatusListChecks = { resolve: Resolve; now: number; leewaySeconds?: number | undefined }

/** Reads an entry of `credentialStatus`. @throws {VerificationError} `status` for one that is not understood. */
export function readStatusEntry(status: CredentialStatus): StatusEntry {
  const { success, data, error } = Entry.safeParse(status)
  if (success) return data
  const [{ path, message }] = error.issues as [z.core.$ZodIssue]
  throw refused(
    path[0] === 'type'
      ? `a status of type ${status.type} is not understood`
      : `its ${path.join('.')} is not understood: ${message}`,
  )
}

/** Thrown when a list that counts says that a credential does not stand; whatever else is thrown leaves that open. */
export class NotStandingError extends VerificationError {
  override name = 'NotStandingError'
  readonly standing: 'revoked' | 'suspended'

  constructor(standing: NotStandingError['standing']) {
    super('status', `the credential is ${standing}`)
    this.standing = standing
  }
}

/**
 * Finds in a list, which is the text that its URL answers with, that a credential is neither revoked nor suspended.
 *
 * @throws {NotStandingError} when it is
 * @throws {VerificationError} when the list is not the one, not its issuer's, not signed by a key that may assert for the issuer, or malformed
 * @throws {Problem} `error:ServiceUnavailable` when the issuer's DID cannot be resolved for now
 */
export async function checkStatusList(
  text: string,
  entry: StatusEntry,
  { issuerDid }: Pick<DecodedCredential, 'issuerDid'>,
  { resolve, now, leewaySeconds }: StatusListChecks,
): Promise<void> {
  const { list, validity, isSigned } = understood(() =>
    text.trim().startsWith('{') ? readJson(text) : readToken(text.trim()),
  )
  const { type, statusPurpose, encodedList } = list.credentialSubject
  if (list.id !== entry.statusListCredential) throw refused('the list at that address is another one')
  if (canonicalDid(list.issuer) !== canonicalDid(issuerDid))
    throw refused('the list is not by the issuer of the credential')
  if (type !== listTypes[entry.type]) throw refused(`the list is not of the type ${listTypes[entry.type]}`)
  if (![statusPurpose].flat().some((purpose) => purpose.toLowerCase() === entry.statusPurpose)) {
    throw refused(`the list is not about ${entry.statusPurpose}`)
  }
  checkValidity(validity, now, leewaySeconds)
  // The form of the DID that the credential has: a list may outlive the time in which only a long form could be resolved.
  if (!(await isSigned(issuerDid, resolve)))
    throw refused('the list is not signed by a key that its issuer allows for assertions')
  if (!understood(() => isSet(expandBits(encodedList), entry.statusListIndex))) return
  throw new NotStandingError(entry.statusPurpose === 'revocation' ? 'revoked' : 'suspended')
}

/** A list as it says it is; `isSigned` finds out whether it is by the DID that it must be by. */
type Unverified = {
  list: List
  validity: Validity
  isSigned: (issuerDid: string, resolve: Resolve) => Promise<boolean>
}

function readJson(text: string): Unverified {
  const json = parseJson(Buffer.from(text)) as JsonObject
  const list = List.parse(json)
  return {
    list,
    validity: toValidity(
      [list.issuanceDate, list.validFrom],
      [list.expirationDate, list.validUntil, list.proof?.expires],
    ),
    async isSigned(did, resolve) {
      const document = await resolveSigner({ did, role: 'issuer' }, resolve)
      const keys = keysFor(document, 'assertionMethod').map(({ publicKeyJwk }) => publicKeyJwk)
      return understood(() => isProvedBy(json, keys))
    },
  }
}

/** A credential of VC 2.0 as payload, or one of VC 1.1 in the claim `vc`. */
function readToken(text: string): Unverified {
  const jws = decodeJws(text)
  const { iss, jti, nbf, exp, vc } = ListToken.parse(jws.payload)
  const list = List.parse({ id: jti, issuer: iss, ...(vc ?? jws.payload) })
  if (iss !== undefined && canonicalDid(iss) !== canonicalDid(list.issuer))
    throw refused('the list names another issuer than its iss')
  return {
    list,
    validity: toValidity(
      [nbf, list.issuanceDate, list.validFrom],
      [exp, list.expirationDate, list.validUntil],
    ),
    isSigned: (did, resolve) => checkSignature(jws, { did, role: 'issuer' }, resolve).then(() => true),
  }
}

/** Reads something of a list; what cannot be read is refused with the reason. */
function understood<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof VerificationError) throw cause
    // The words of JSON.parse quote what it read.
    const reason = cause instanceof SyntaxError ? 'it is not JSON' : reasonOf(cause)
    throw new VerificationError('status', `the list cannot be read: ${reason}`, { cause })
  }
}

function refused(reason: string): VerificationError {
  return new VerificationError('status', reason)
}
