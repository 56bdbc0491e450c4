/**
 * Verifies the signature of an issuer. The form of `iss` selects the keys: those of a DID, or else the key of
 * the first certificate in the header (`x5c`), whose subject is the issuer (SD-JWT VC §2.5). A forger cannot
 * choose between them.
 */
import * as z from 'zod'
import type { PublicJwk } from '../../foundation/crypto/keys.ts'
import { Did, type Resolve, type VerificationKey } from '../../did/document.ts'
import { checkSignature } from './did-signature.ts'
import { isSignedBy, type Jws } from './jws.ts'
import { VerificationError } from './verification-error.ts'

/** The `iss` of an issuer: a DID, or another URI. */
export const IssuerId = z.union(
  [
    Did,
    z
      .string()
      .max(2_000)
      .regex(/^(?!did:)[a-z][a-z0-9+.-]*:\S+$/i),
  ],
  { error: ({ input }) => (typeof input === 'string' ? 'must be a DID or another URI' : undefined) },
)

/**
 * The key of a verified certificate, its subject, and the key identifiers of the authorities on its path,
 * base64url.
 */
export type CertifiedKey = {
  publicKey: PublicJwk
  subject: string
  authorityKeyIds: readonly string[]
  /** Of the signer of a document: its country and state, and how its certificate differs from the profile. */
  place?: { country?: string; state?: string }
  warnings?: readonly string[]
}

/**
 * Verifies the certificates of a header, and that the first one is for the issuer. Those of a status list are
 * given with its credential: they may also be of a status issuer below the same trust anchor (Token Status
 * List §11.3).
 *
 * @throws {VerificationError} `issuer-not-trusted`
 */
export type VerifyChain = (
  x5c: unknown,
  issuer: string,
  about?: {
    credential?: { x5c?: unknown; docType?: string } | undefined
    /** Of a document: the profile of ISO/IEC 18013-5 Annex B applies, and the anchors for this type. */
    docType?: string | undefined
  },
) => Promise<CertifiedKey>

/** Without `verifyChain`, issuers without a DID are refused. */
export type IssuerKeys = { resolve: Resolve; verifyChain?: VerifyChain | undefined }

/**
 * Returns the key that made the signature. Its id is a DID URL, or the issuer.
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
