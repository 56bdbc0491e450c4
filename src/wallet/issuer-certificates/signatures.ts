/** Signatures with issuer certificates: JWS with the header member `x5c` (RFC 7515 §4.1.6, HAIP 1.0). */
import { Problem } from '../../foundation/problem.ts'
import { isSignedBy, type Jws, signJws } from '../../credentials/codecs/jws.ts'
import type { Wallet } from '../wallet.ts'
import type { VerifiedCertificate, X5cPolicy } from '../../foundation/x509/index.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { getCertificate, getIssuingKey, loadX509 } from './certificates.ts'
import type { IssuerCertificate, SubjectName } from './model.ts'

/**
 * The chain for a header: the key's certificate first, without the root.
 *
 * @throws {Problem} `Conflict` when there is none yet, or it has ended
 */
export function x5cOf({ id, state, x5c, notAfter }: IssuerCertificate): string[] {
  if (state === 'ready' && x5c) return x5c
  const way =
    state === 'expired'
      ? `has ended, on ${notAfter}: import a renewed chain.`
      : 'has no chain yet: import the one that an authority made for its request.'
  throw new Problem('Conflict', `The issuer certificate ${id} ${way}`)
}

/** A key of an issuer with the certificates for a header. `version` changes with the chain. */
export type CertificateSigner = { issuer: string; key: PrivateJwk; x5c: string[]; version: string }

/** @throws {Problem} `NotFound`, and as `x5cOf` */
export async function getCertificateSigner(wallet: Wallet, id: string): Promise<CertificateSigner> {
  const certificate = await getCertificate(wallet.db, id)
  const x5c = x5cOf(certificate)
  const key = await getIssuingKey(wallet, id)
  return { issuer: issuerOf(certificate), key, x5c, version: certificate.updatedAt }
}

/**
 * The `iss` of credentials: the first URI in the certificate, or else its first DNS name as URL.
 *
 * @throws {Problem} `Conflict` for a certificate without names
 */
function issuerOf({ id, names }: { id: string; names: readonly SubjectName[] }): string {
  const uri = names.find(({ type }) => type === 'uri')?.value
  const [first] = names
  if (uri !== undefined || first) return uri ?? `https://${first!.value}`
  throw new Problem(
    'Conflict',
    `The issuer certificate ${id} has no DNS name and no URI, which wallets compare: import a chain whose first certificate has one.`,
  )
}

/** Signs a payload with the key of an issuer certificate. @throws {Problem} `NotFound`, and as `x5cOf` */
export async function signWithCertificate(
  wallet: Wallet,
  id: string,
  header: Pick<Parameters<typeof signJws>[0], 'typ' | 'parameters'>,
  payload: object,
): Promise<string> {
  const { x5c, key } = await getCertificateSigner(wallet, id)
  return signJws({ ...header, x5c }, payload, key)
}

/**
 * Verifies a JWS by the certificates in its header.
 *
 * @throws {ChainError} when the chain is not accepted, or the signature is not of its first certificate
 */
export async function verifyWithCertificate(jws: Jws, policy: X5cPolicy): Promise<VerifiedCertificate> {
  const { ChainError, verifyX5c } = await loadX509()
  const certificate = verifyX5c(jws.header.x5c, policy)
  if (!isSignedBy(jws, certificate.publicKey))
    throw new ChainError('signature', 'The token is not signed by the key of the first certificate in x5c.')
  return certificate
}
