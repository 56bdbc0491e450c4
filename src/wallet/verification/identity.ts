/** The holders of presented credentials. */
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { type DidDocument, keysFor } from '../../did/document.ts'
import { createJwkDid, isSameDid } from '../../did/jwk.ts'
import type { PresentedCredential } from '../../credentials/formats/presented.ts'
import type { Wallet } from '../wallet.ts'

/**
 * The DID of the holder of a credential. The issuer's `sub` alone proves nothing: it is the identity if the
 * key that signed the presentation is an authentication key of that DID.
 *
 * @throws {VerificationError} without a holder; {Problem} if the resolution of the subject is temporarily
 * impossible
 */
export async function identityOf(
  wallet: Wallet,
  presented: PresentedCredential | undefined,
): Promise<string> {
  const { holder, subject } = presented ?? {}
  if (holder === undefined)
    throw new VerificationError('holder-binding', 'The presentation does not prove who holds the credential')
  if (!subject?.startsWith('did:') || subject === holder) return holder
  const document = await findDocument(wallet, subject)
  const keys = document ? keysFor(document, 'authentication') : []
  return keys.some(({ publicKeyJwk }) => createJwkDid(publicKeyJwk) === holder) ? subject : holder
}

/**
 * @throws {VerificationError} if the credentials are of several holders, or one has none; {Problem} as
 * `identityOf`
 */
export async function checkSameHolder(
  wallet: Wallet,
  [first, ...others]: readonly PresentedCredential[],
): Promise<void> {
  const holder = await identityOf(wallet, first)
  for (const other of others) {
    const another = await identityOf(wallet, other)
    if (!isSameDid(another, holder))
      throw new VerificationError(
        'holder-binding',
        `The credentials are of several holders: ${first!.credentialId} of ${holder}, ${other.credentialId} of ${another}`,
      )
  }
}

/**
 * Undefined for a DID that does not resolve.
 *
 * @throws {Problem} if the resolution is temporarily impossible
 */
async function findDocument({ env }: Wallet, did: string): Promise<DidDocument | undefined> {
  try {
    return await env.resolver.document(did)
  } catch (error) {
    if (error instanceof Problem && !isTemporary(error)) return undefined
    throw error
  }
}
