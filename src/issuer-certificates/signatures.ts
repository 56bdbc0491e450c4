/** Signatures with issuer certificates: JWS with the header member `x5c` (RFC 7515 §4.1.6, HAIP 1.0). */
import { Problem } from '../base/problem.ts'
import { decodeHeader, decodeJws, isSignedBy, type Jws, signJws } from '../credentials/jws.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { VerifiedCertificate, X5cPolicy } from '../x509/index.ts'
import { getCertificate, getIssuingKey, loadX509 } from './certificates.ts'
import type { IssuerCertificate } from './model.ts'

/** The chain for a header: the key's certificate first, without the root. @throws {Problem} `Conflict` when there is none yet, or it has ended */
export function x5cOf({ id, state, x5c, notAfter }: IssuerCertificate): string[] {
  if (state === 'ready' && x5c) return x5c
  const way =
    state === 'expired'
      ? `has ended, on ${notAfter}: import a renewed chain.`
      : 'has no chain yet: import the one that an authority made for its request.'
  throw new Problem('Conflict', `The issuer certificate ${id} ${way}`)
}

/** Signs a payload with the key of an issuer certificate. @throws {Problem} `NotFound`, and as `x5cOf` */
export async function signWithCertificate(
  wallet: Wallet,
  id: string,
  header: { typ?: string },
  payload: object,
): Promise<string> {
  const x5c = x5cOf(await getCertificate(wallet.db, id))
  return signJws({ ...header, x5c }, payload, await getIssuingKey(wallet, id))
}

/**
 * Verifies a JWS by the certificates in its header.
 *
 * @throws {ChainError} when the chain is not accepted, or the signature is not of its first certificate; {VerificationError}
 */
export async function verifyWithCertificate(
  text: string,
  policy: X5cPolicy,
): Promise<{ jws: Jws; certificate: VerifiedCertificate }> {
  const { ChainError, verifyX5c } = await loadX509()
  const [{ x5c }, jws] = [decodeHeader(text), decodeJws(text)]
  const certificate = verifyX5c(x5c, policy)
  if (!isSignedBy(jws, certificate.publicKey))
    throw new ChainError('signature', 'The token is not signed by the key of the first certificate in x5c.')
  return { jws, certificate }
}
