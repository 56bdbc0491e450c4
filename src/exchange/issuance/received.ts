/** What a holder verifies of a received token, whatever transport carries it. */
import { verifyDecoded } from '../../credentials/codecs/verify.ts'
import { didOf, includesDid } from '../../did/document.ts'
import { findBoundKey } from '../../wallet/did-registrar/holder-key.ts'
import { findKeyPair } from '../../wallet/did-registrar/keys.ts'
import type { Decoded } from '../../credentials/formats/format.ts'
import { formats } from '../../credentials/formats/index.ts'
import type { TokenFormat } from '../../definitions/format-names.ts'
import { createChainVerifier } from '../../wallet/trust-anchors/verify-chain.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialData } from './model.ts'

/**
 * Form, dates and signature.
 *
 * @throws {VerificationError}; {Problem} 503 if a check is not possible for now
 */
export async function verifyReceived(wallet: Wallet, format: TokenFormat, text: string): Promise<Decoded> {
  const decoded = formats[format].decode(text)
  await verifyDecoded(decoded, {
    resolve: wallet.env.resolver.document,
    verifyChain: createChainVerifier(wallet),
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: wallet.env.config.CREDENTIAL_LEEWAY,
    // Revocation matters when the credential is presented, not when it is received.
    verifyStatus: false,
  })
  return decoded
}

/**
 * Checks the binding: to the key that the holder chose, or without one to any key of the subject or none.
 *
 * @throws {TypeError} if the credential is not bound to the chosen key, or to a key that the subject does not
 * have
 */
export async function checkBinding(
  wallet: Wallet,
  { subjectId, keyId }: Pick<CredentialData, 'subjectId' | 'keyId'>,
  decoded: Decoded,
): Promise<void> {
  if (!decoded.isBound) {
    if (keyId !== undefined)
      throw new TypeError(`it is not bound to the key ${keyId}, that the offer was accepted with`)
    return
  }
  if (!(await isBoundToSubject(wallet, subjectId, decoded)))
    throw new TypeError('it is bound to a key that the subject does not have')
}

async function isBoundToSubject(
  wallet: Wallet,
  subject: string | undefined,
  { holderKey, holderKid }: Decoded,
): Promise<boolean> {
  if (subject === undefined) return false
  if (holderKey) return (await findKeyPair(wallet, subject, holderKey)) !== undefined
  const isOfSubject = holderKid !== undefined && includesDid([subject], didOf(holderKid))
  return isOfSubject && (await findBoundKey(wallet, subject, { holderKid })) !== undefined
}
