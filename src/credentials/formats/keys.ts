/** The keys that present credentials. */
import { Problem } from '../../foundation/problem.ts'
import type { Confirmation } from '../codecs/sd-jwt/confirmation.ts'
import { isSameKey, type PrivateJwk, type PublicJwk, toPublic } from '../../foundation/crypto/keys.ts'

/** A credential of a wallet. */
export type HeldToken = { credential: string; subject: string | null }

/** The keys of a wallet that presents credentials. */
export type Keys = {
  /** The authentication key of a DID. @throws {Problem} without one */
  ofDid(did: string): Promise<{ keyId: string; privateJwk: PrivateJwk }>
  /** The forms of a DID: `resolvable` is the long form unless the DID is published. */
  formsOf(did: string): Promise<{ longForm: string; resolvable: string }>
  /** The key that a credential names. Undefined if the wallet does not have it. */
  confirmed(subject: string | null, confirmation: Confirmation): Promise<PrivateJwk | undefined>
}

/** The wallet cannot prove that a credential is its own. */
export function unbindable(detail: string): Problem {
  return new Problem('error:PresentationError:HolderBindingError', detail)
}

/** Whether a public key, with whatever further members, is that of a private key. */
export function isSamePair(publicKey: PublicJwk | undefined, privateKey: PrivateJwk): boolean {
  return publicKey !== undefined && isSameKey(toPublic(publicKey), toPublic(privateKey))
}
