/** The verification that all formats of tokens share: dates, signature, status. */
import { isTemporary } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { inSpan } from '../../foundation/spans.ts'
import type { VerificationKey } from '../../did/document.ts'
import { checkIssuerSignature, type IssuerKeys } from './issuer-signature.ts'
import type { JsonObject } from '../../foundation/json.ts'
import type { Jws } from './jws.ts'
import type { CredentialStatus } from './jwt-vc.ts'
import type { CredentialIssuer } from './status-list.ts'
import { checkValidity, type Validity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/**
 * Returns when a credential is neither revoked nor suspended. Throws when it is, or when its status cannot be
 * determined: `error:ServiceUnavailable` if that is temporary.
 */
export type CheckStatus = (status: CredentialStatus, credential: CredentialIssuer) => Promise<void>

/** All checks are on by default. The configuration switches them off (`CREDENTIAL_VERIFY_…`). */
export type CredentialChecks = {
  leewaySeconds?: number | undefined
  verifyDates?: boolean | undefined
  verifySignature?: boolean | undefined
  verifyStatus?: boolean | undefined
  /** Without it, a credential with a status is refused. */
  checkStatus?: CheckStatus | undefined
}

export type VerificationOptions = CredentialChecks & IssuerKeys & { now: number }

/** The part of a credential that its issuer has signed, as JSON for people, and the signature. */
export type Signed = {
  header: JsonObject & { alg: string }
  payload: JsonObject
  /**
   * Returns the key that made the signature.
   *
   * @throws {VerificationError} `signature`, `algorithm`, `issuer-not-trusted`; {Problem}
   * `error:ServiceUnavailable`
   */
  check(options: IssuerKeys): Promise<VerificationKey>
  /** Checks what the signature covers by digests alone. @throws {VerificationError} `digests` */
  checkDigests?(): void
}

/** The signature of a JWS by the keys of an issuer. */
export function signedBy(jws: Jws, issuerDid: string): Signed {
  const { header, payload } = jws
  return { header, payload, check: (options) => checkIssuerSignature(jws, issuerDid, options) }
}

/** A decoded credential. */
export type Verifiable = Validity & CredentialIssuer & { statuses: CredentialStatus[] }

/**
 * Returns the credential with the key of the issuer that signed it, if the signature is verified.
 *
 * @throws {VerificationError} for the first check that fails, {Problem} `error:ServiceUnavailable`
 */
export function verifyDecoded<Decoded extends Verifiable & { signed: Signed }>(
  credential: Decoded,
  options: VerificationOptions,
): Promise<Decoded & { key: VerificationKey | undefined }> {
  const { now, leewaySeconds, checkStatus } = options
  const { verifyDates = true, verifySignature = true, verifyStatus = true } = options
  return inSpan(
    () => ({ name: 'verify credential', isDetail: true }),
    async () => {
      // Dates first: the DID of an expired credential is not resolved.
      if (verifyDates) checkValidity(credential, now, leewaySeconds)
      const { signed } = credential
      const key = verifySignature ? await signed.check(options) : undefined
      if (verifySignature) signed.checkDigests?.()
      if (verifyStatus) await establishStatuses(credential, { checkStatus })
      return { ...credential, key }
    },
  )
}

/** Reads the status of a credential in each of its lists. @throws as `establishStatus` */
export async function establishStatuses(
  credential: Verifiable,
  { checkStatus }: Pick<CredentialChecks, 'checkStatus'>,
): Promise<void> {
  for (const status of credential.statuses) await establishStatus(status, credential, checkStatus)
}

/**
 * @throws {VerificationError} `status` when the credential is revoked or suspended, or its status cannot be
 * determined.
 */
export async function establishStatus(
  status: CredentialStatus,
  credential: CredentialIssuer,
  checkStatus: CheckStatus = refuseStatus,
): Promise<void> {
  try {
    await checkStatus(status, credential)
  } catch (cause) {
    if (isTemporary(cause)) throw cause
    throw new VerificationError('status', `The status check failed: ${reasonOf(cause)}`, { cause })
  }
}

function refuseStatus({ type }: CredentialStatus): Promise<void> {
  return Promise.reject(new Error(`no check of the status type ${type} is configured`))
}
