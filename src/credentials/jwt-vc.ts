/** Issuing and verifying credentials as JWT (wire.md 4.4, 5.3 points 5 to 7; api.md 4.7). */
import { isTemporary } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import type { PrivateJwk } from '../crypto/keys.ts'
import type { Resolve, VerificationKey } from '../did/document.ts'
import { type CredentialStatus, type DecodedCredential, readJwtVc } from './credential.ts'
import { checkSignature } from './did-signature.ts'
import type { JsonObject } from '../base/json.ts'
import { type Jws, signJws } from './jws.ts'
import { checkValidity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** What a credential is made of; times are seconds. */
export type CredentialContent = {
  /** Goes into `iss` and `vc.issuer.id` as given, long or short. */
  issuerDid: string
  /** A key with the purpose `assertionMethod` in the issuer's document. */
  issuerKey: PrivateJwk
  /** The bare id of that key, for the header; needed when the document has several (wire.md pitfall 44). */
  kid?: string | undefined
  /** The holder's DID as in the `iss` of its request: long form. */
  subjectDid: string
  /** A member `id` is replaced by the subject's DID. */
  claims: JsonObject
  /** Schema URLs; none writes no `credentialSchema`. */
  schemas: string[]
  /** From `now` to the `exp` that is written only if this is given. */
  validityPeriod?: number | undefined
  credentialStatus?: CredentialStatus | undefined
  now: number
}

/** Signs a credential; members and their order are those of the real agent. Returns the compact JWT. */
export function issueJwtVc(content: CredentialContent): string {
  const { issuerDid, issuerKey, kid, subjectDid, claims, schemas, validityPeriod, credentialStatus } = content
  const nbf = Math.floor(content.now)
  const payload = {
    iss: issuerDid,
    sub: subjectDid,
    nbf,
    ...(validityPeriod !== undefined && { exp: nbf + Math.floor(validityPeriod) }),
    vc: {
      '@context': ['https://www.w3.org/2018/credentials/v1'],
      type: ['VerifiableCredential'],
      credentialSubject: { ...claims, id: subjectDid },
      issuer: { id: issuerDid, type: 'Profile' },
      ...(schemas.length > 0 && {
        credentialSchema: schemas.map((id) => ({ id, type: 'CredentialSchema2022' })),
      }),
      ...(credentialStatus !== undefined && { credentialStatus }),
    },
  }
  return signJws({ typ: 'JWT', kid }, payload, issuerKey)
}

/**
 * Throws when the status says revoked or suspended, and when it cannot be established, `error:ServiceUnavailable` when that is so for now;
 * returns when the credential stands.
 */
export type CheckStatus = (
  status: CredentialStatus,
  credential: Pick<DecodedCredential, 'issuerDid'>,
) => Promise<void>

/** What is checked of a credential; everything is, unless switched off by name (`CREDENTIAL_VERIFY_…`). */
export type CredentialChecks = {
  leewaySeconds?: number | undefined
  verifyDates?: boolean | undefined
  verifySignature?: boolean | undefined
  verifyStatus?: boolean | undefined
  /** Without it a credential that has a status is refused. */
  checkStatus?: CheckStatus | undefined
}

/** A credential whose checks have all passed; `key` is the issuer's key that signed, absent when signatures are switched off. */
export type VerifiedCredential = DecodedCredential & { key: VerificationKey | undefined }

/**
 * Verifies a credential: shape, issuer, subject, dates at `now` (epoch seconds), signature by an `assertionMethod` key of `iss`, status.
 *
 * @throws {VerificationError} for the first check that fails
 * @throws {Problem} `error:ServiceUnavailable` when a check cannot be made for now
 */
export async function verifyJwtVc(
  jwt: string,
  options: CredentialChecks & { resolve: Resolve; now: number },
): Promise<VerifiedCredential> {
  const { jws, credential } = readJwtVc(jwt)
  return verifyReadVc(jws, credential, options)
}

/** The rest of `verifyJwtVc` for a credential that is read already. */
export async function verifyReadVc(
  jws: Jws,
  credential: DecodedCredential,
  options: CredentialChecks & { resolve: Resolve; now: number },
): Promise<VerifiedCredential> {
  const {
    resolve,
    now,
    leewaySeconds,
    verifyDates = true,
    verifySignature = true,
    verifyStatus = true,
    checkStatus,
  } = options
  // Dates come first because they cost nothing; nobody's DID is resolved for a credential that has expired.
  if (verifyDates) checkValidity(credential, now, leewaySeconds)
  const key = verifySignature
    ? await checkSignature(jws, { did: credential.issuerDid, role: 'issuer' }, resolve)
    : undefined
  if (verifyStatus)
    for (const status of credential.statuses) await establishStatus(status, credential, checkStatus)
  // Not by a spread, after which V8 takes a microsecond for another member.
  return Object.assign({}, credential, { key })
}

/** @throws {VerificationError} `status` when it does not let the credential pass, or there is nobody to check it. */
export async function establishStatus(
  status: CredentialStatus,
  credential: Pick<DecodedCredential, 'issuerDid'>,
  checkStatus: CheckStatus | undefined,
): Promise<void> {
  try {
    await (checkStatus ?? refuseStatus)(status, credential)
  } catch (cause) {
    if (isTemporary(cause)) throw cause
    throw new VerificationError(
      'status',
      `The status of the credential does not let it pass: ${reasonOf(cause)}`,
      { cause },
    )
  }
}

/** Nobody is there who could tell. */
function refuseStatus({ type }: CredentialStatus): Promise<void> {
  return Promise.reject(new Error(`a status of type ${type} is not checked here`))
}
