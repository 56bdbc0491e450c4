/**
 * Verifies the signature of an issuer. The form of `iss` selects the keys: those of a DID, or else the key of the
 * first certificate in the header (`x5c`), which must be for `iss`. A forger cannot choose between them (SD-JWT VC,
 * "Ecosystem-specific Public Key Verification Methods").
 */
import * as z from 'zod'
import type { PublicJwk } from '../crypto/keys.ts'
import { Did, type Resolve, type VerificationKey } from '../did/document.ts'
import { checkSignature } from './did-signature.ts'
import { isSignedBy, type Jws } from './jws.ts'
import { VerificationError } from './verification-error.ts'

/** The `iss` of an issuer: a DID, or another URI. */
export const IssuerId = z.union([
  Did,
  z
    .string()
    .max(2_000)
    .regex(/^(?!did:)[a-z][a-z0-9+.-]*:\S+$/i, 'is not a URI'),
])

/** The key of a verified certificate, and the key identifiers of the authorities on its path, base64url. */
export type CertifiedKey = { publicKey: PublicJwk; authorityKeyIds: readonly string[] }

/**
 * Verifies the certificates of a header, and that the first one names the issuer.
 *
 * @throws {VerificationError} `issuer-not-trusted`
 */
export type VerifyChain = (x5c: unknown, issuer: string) => Promise<CertifiedKey>

/** Without `verifyChain`, issuers without a DID are refused. */
export type IssuerKeys = { resolve: Resolve; verifyChain?: VerifyChain | undefined }

/**
 * Returns the key that made the signature. Its id is a DID URL, or `iss`.
 *
 * @throws {VerificationError} as `checkSignature`, `issuer-not-trusted`
 * @throws {Problem} `error:ServiceUnavailable` when a DID cannot be resolved for now
 */
export async function checkIssuerSignature(
  jws: Jws,
  issuer: string,
  { resolve, verifyChain }: IssuerKeys,
): Promise<VerificationKey> {
  if (issuer.startsWith('did:')) return checkSignature(jws, { did: issuer, role: 'issuer' }, resolve)
  if (!verifyChain)
    throw new VerificationError(
      'issuer-not-trusted',
      `The issuer ${issuer} is not a DID, and no certificates are trusted here`,
    )
  const { publicKey: publicKeyJwk } = await verifyChain(jws.header.x5c, issuer)
  if (!isSignedBy(jws, publicKeyJwk))
    throw new VerificationError(
      'signature',
      'The key of the first certificate in x5c did not make the signature',
    )
  return { id: issuer, publicKeyJwk }
}
