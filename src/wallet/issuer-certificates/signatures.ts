/** Signatures with issuer certificates: JWS with the header member `x5c` (RFC 7515 §4.1.6, HAIP 1.0). */
import { X509Certificate } from 'node:crypto'
import { Problem } from '../../foundation/problem.ts'
import { isSignedBy, type Jws, signJws } from '../../credentials/codecs/jws.ts'
import type { Wallet } from '../wallet.ts'
import type { VerifiedCertificate, X5cPolicy } from '../../foundation/x509/index.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { issuerOfMdoc } from '../../foundation/x509/mdoc-issuer.ts'
import { getCertificate, getIssuingKey, loadX509 } from './certificates.ts'
import type { CertificateProfile, IssuerCertificate, SubjectName } from './model.ts'

/**
 * The chain for a header: the key's certificate first, without the root.
 *
 * @throws {Problem} `Conflict` when there is none yet, or it has ended
 */
export function x5cOf({ id, state, x5c, notAfter, revokedAt, isDevelopment }: IssuerCertificate): string[] {
  if (state === 'ready' && x5c) return x5c
  const renew = isDevelopment ? `renew it (agent issuer-cert renew ${id})` : 'import a renewed chain'
  const ways = {
    revoked: `is revoked since ${revokedAt}: ${renew}.`,
    expired: `has ended, on ${notAfter}: ${renew}.`,
  }
  const way =
    ways[state as keyof typeof ways] ??
    'has no chain yet: import the one that an authority made for its request.'
  throw new Problem('Conflict', `The issuer certificate ${id} ${way}`)
}

/** A key of an issuer with the certificates for a header. `version` changes with the chain. */
export type CertificateSigner = { issuer: string; key: PrivateJwk; x5c: string[]; version: string }

/** The profiles of certificates that sign tokens: none. */
const tokens: readonly (CertificateProfile | undefined)[] = [undefined]
/** Those of certificates that sign requests for credentials. */
export const readers: typeof tokens = [...tokens, 'reader']

/**
 * The signer of a certificate that has one of the profiles; by default of one without a profile, which signs
 * tokens.
 *
 * @throws {Problem} `NotFound`, and as `x5cOf`; `Conflict` for a certificate with another profile
 */
export async function getCertificateSigner(
  wallet: Wallet,
  id: string,
  profiles = tokens,
): Promise<CertificateSigner> {
  const certificate = await getCertificate(wallet.db, id)
  const { profile, root, updatedAt: version } = certificate
  if (!profiles.includes(profile)) throw otherProfile(id, profile)
  const x5c = x5cOf(certificate)
  const issuer = profile
    ? issuerOfMdoc(x5c, root === undefined ? undefined : derOf(root))
    : issuerOf(certificate)
  return { issuer, key: await getIssuingKey(wallet, id), x5c, version }
}

function otherProfile(id: string, profile: CertificateProfile | undefined): Problem {
  const use = profile ? `has the profile ${profile}` : 'has no profile'
  return new Problem(
    'Conflict',
    `The issuer certificate ${id} ${use}, and does not sign this. Make another one: agent issuer-cert init --help`,
  )
}

/** The DER of a certificate in PEM. */
function derOf(pem: string): Buffer {
  return new X509Certificate(pem).raw
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
  const { x5c, key } = await getCertificateSigner(wallet, id, readers)
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
