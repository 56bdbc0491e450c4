/** Whether a credential that comes is the one that was asked for (service §4.3). */
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { verifyJwtVc } from '../../credentials/jwt-vc.ts'
import { verifySdJwt } from '../../credentials/sd-jwt/sd-jwt.ts'
import type { PublicJwk } from '../../crypto/keys.ts'
import { findKeyPair } from '../../did-registrar/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { isTokensFault, readToken } from '../attachments.ts'
import type { Received } from '../receive.ts'
import type { CredentialRecord } from './model.ts'

export type Issued = { credential: string; issuer: string; subject: string }

/**
 * Verifies the credential in a message: signed by its issuer, in time, about the DID that the offer was accepted with, in the format of the
 * offer, whatever the message calls it; and an SD-JWT bound to the key that was named, or else to none or another of the holder's.
 *
 * @throws {Problem} `InvalidCredentialIssue`; `error:ServiceUnavailable` when a check cannot be made for now.
 */
export async function verifyIssued(
  wallet: Wallet,
  { credentialFormat, subjectId, keyId }: CredentialRecord,
  message: Received,
): Promise<Issued> {
  const checks = {
    resolve: wallet.env.resolver.document,
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: wallet.env.config.CREDENTIAL_LEEWAY,
    // Whether it is revoked matters when it is shown, not when it is received.
    verifyStatus: false,
  }
  try {
    const credential = readToken(message)
    const verified = credentialFormat === 'JWT' ? await verifyJwtVc(credential, checks) : await verifySdJwt(credential, checks)
    const { issuerDid: issuer, subjectDid: subject } = verified
    if (subjectId === undefined || subject === undefined || canonicalDid(subject) !== canonicalDid(subjectId)) {
      throw new TypeError('its subject is not the DID that the offer was accepted with')
    }
    if ('sdJwt' in verified) await checkBinding(wallet, { subjectId, keyId, holderKey: verified.holderKey })
    return { credential, issuer, subject }
  } catch (error) {
    if (!isTokensFault(error)) throw error
    throw new Problem('error:CredentialServiceError:InvalidCredentialIssue', `The credential is not accepted: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

type Binding = { subjectId: string; keyId?: string | undefined; holderKey?: PublicJwk | undefined }

/** @throws {TypeError} when whoever has the credential could show it, against the holder's wish, or the holder itself could not. */
async function checkBinding(wallet: Wallet, { subjectId, keyId, holderKey }: Binding): Promise<void> {
  if (!holderKey) {
    if (keyId !== undefined) throw new TypeError(`it is not bound to the key ${keyId}, which the offer was accepted with`)
    return
  }
  if (!(await findKeyPair(wallet, subjectId, holderKey))) throw new TypeError('it is bound to a key that the subject does not have')
}
