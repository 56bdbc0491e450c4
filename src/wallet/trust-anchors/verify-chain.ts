/**
 * Verifies certificates by the trust anchors of a wallet: those of issuers of credentials and status lists,
 * and of verifiers that sign their requests.
 */
import type { CertifiedKey, VerifyChain } from '../../credentials/codecs/issuer-signature.ts'
import { isHashed, isNamed, x509HashPrefix } from '../../credentials/codecs/x509-issuer.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { loadX509, readStoredChain } from '../issuer-certificates/certificates.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../wallet.ts'
import type { MdocAnchor, Role, VerifiedCertificate } from '../../foundation/x509/index.ts'
import { findAnchorValues, findDocumentAnchors } from './anchors.ts'

const noAnchor = 'The issuer’s certificate chain ends at no trust anchor of this wallet: agent trust add'

/**
 * Creates the verifier of certificates for one verification, which reads the trust anchors once. With `own`,
 * the roots of the wallet's issuer certificates are trusted too: for what the wallet itself has signed.
 */
export function createChainVerifier({ db }: Pick<Wallet, 'db'>, { own = false } = {}): VerifyChain {
  let anchors: Promise<string[]> | undefined
  const verify = oncePerChain((x5c, role: Role) => {
    anchors ??= own ? findOwnAnchors(db) : findAnchorValues(db, 'x509')
    return verifyByAnchors(x5c, anchors, role)
  })
  let ofDocuments: Promise<MdocAnchor[]> | undefined
  const verifyDocument = oncePerChain((x5c, docType: string) => {
    ofDocuments ??= findMdocAnchors(db, { own })
    return verifySigner(x5c, ofDocuments, docType)
  })
  /** The list of a document is signed below the authority that the document is below. */
  const verifyListOf = async (x5c: unknown, credential: { x5c?: unknown; docType: string }) => {
    const { pem } = await verifyDocument(credential.x5c, credential.docType)
    try {
      return await verifyByAnchors(x5c, Promise.resolve([pem]), 'status')
    } catch (cause) {
      if (!(cause instanceof VerificationError)) throw cause
      throw new VerificationError(
        'issuer-not-trusted',
        `The certificate of the status list is not of the authority of the document: ${cause.message}`,
        { cause },
      )
    }
  }
  return async (x5c, issuer, { docType, credential } = {}): Promise<CertifiedKey> => {
    if (docType !== undefined) return verifyDocument(x5c, docType)
    if (x5c === undefined)
      throw new VerificationError(
        'issuer-not-trusted',
        `The issuer ${issuer} is not a DID, and its token has no certificates in x5c; keys at the URL of an issuer are not supported here`,
      )
    if (credential?.docType !== undefined)
      return verifyListOf(x5c, { ...credential, docType: credential.docType })
    const certificate = await verify(x5c, credential ? 'status' : 'issuer')
    if (isIssuer(x5c, certificate, issuer)) return certificate
    if (!credential)
      throw new VerificationError('issuer-not-trusted', `The certificate is not for the issuer ${issuer}`)
    const { anchor } = await verify(credential.x5c, 'issuer')
    if (certificate.isStatusIssuer && certificate.anchor === anchor) return certificate
    throw new VerificationError(
      'issuer-not-trusted',
      `The certificate is not for the issuer ${issuer}, and not for status lists (id-kp-oauthStatusSigning) below its trust anchor`,
    )
  }
}

/** Verifies each array of certificates once for a purpose. */
function oncePerChain<Purpose extends string, Verified>(
  verify: (x5c: unknown, purpose: Purpose) => Promise<Verified>,
): (x5c: unknown, purpose: Purpose) => Promise<Verified> {
  const known = new WeakMap<object, Map<Purpose, Promise<Verified>>>()
  return (x5c, purpose) => {
    if (!Array.isArray(x5c)) return verify(x5c, purpose)
    const verified = known.get(x5c) ?? new Map<Purpose, Promise<Verified>>()
    known.set(x5c, verified)
    const found = verified.get(purpose) ?? verify(x5c, purpose)
    verified.set(purpose, found)
    return found
  }
}

/**
 * Verifies the certificates of a verifier's request by the trust anchors of a wallet. The names are to be
 * compared by the caller.
 *
 * @throws {VerificationError} `issuer-not-trusted`
 */
export function verifyTrustedChain(db: Db, x5c: unknown): Promise<VerifiedCertificate> {
  return verifyByAnchors(x5c, findAnchorValues(db, 'x509'), 'verifier')
}

/** Verifies the certificates of a document by the profile of ISO/IEC 18013-5. */
async function verifySigner(
  x5c: unknown,
  anchors: Promise<readonly MdocAnchor[]>,
  docType: string,
): Promise<CertifiedKey & { pem: string }> {
  if (!Array.isArray(x5c))
    throw new VerificationError('issuer-not-trusted', 'The document has no certificates in x5chain')
  const trusted = await anchors
  return refusingChains(({ checkMdocChain, toPemText }) => {
    const chain = checkMdocChain({ x5c: x5c as string[], anchors: trusted, docType, now: new Date() })
    const { publicKey, subject, authorityKeyIds, country, state, warnings } = chain
    const place = { ...(country !== undefined && { country }), ...(state !== undefined && { state }) }
    const pem = toPemText(chain.anchor)
    return { publicKey, subject, authorityKeyIds, pem, place, warnings }
  })
}

async function verifyByAnchors(
  x5c: unknown,
  anchors: Promise<string[]>,
  role: Role,
): Promise<VerifiedCertificate> {
  const pems = await anchors
  return refusingChains(({ verifyX5c }) => verifyX5c(x5c, { anchors: pems, at: new Date(), role }))
}

/** @throws {VerificationError} `issuer-not-trusted` for a chain that is refused */
async function refusingChains<Result>(
  verify: (library: Awaited<ReturnType<typeof loadX509>>) => Result,
): Promise<Result> {
  const library = await loadX509()
  try {
    return verify(library)
  } catch (cause) {
    if (!(cause instanceof library.ChainError)) throw cause
    const reason = cause.failure === 'untrusted' ? `${noAnchor}. ${cause.message}` : cause.message
    throw new VerificationError('issuer-not-trusted', reason.replace(/\.$/, ''), { cause })
  }
}

/** Whether the first certificate is for an issuer: it names it, or has no names, and the issuer is its hash. */
function isIssuer(x5c: unknown, { names }: VerifiedCertificate, issuer: string): boolean {
  return issuer.startsWith(x509HashPrefix) ? isHashed(issuer, x5c) : isNamed(issuer, names)
}

/** The trust anchors, and the roots of the chains of the wallet's issuer certificates, in PEM. */
async function findOwnAnchors(db: Db): Promise<string[]> {
  return [...(await findAnchorValues(db, 'x509')), ...(await findOwnRoots(db))]
}

/**
 * The authorities that are trusted for documents of ISO mdoc, for `checkMdocChain`. With `own`, the roots of
 * the wallet's issuer certificates are trusted too.
 */
export async function findMdocAnchors(db: Db, { own = false } = {}): Promise<MdocAnchor[]> {
  const roots = own ? await findOwnRoots(db) : []
  return [...(await findDocumentAnchors(db)), ...roots.map((pem) => ({ pem }))]
}

async function findOwnRoots(db: Db): Promise<string[]> {
  const chains = db.selectFrom('issuer_certificate').select('chain').where('chain', 'is not', null)
  const rows = await chains.$narrowType<{ chain: string }>().execute()
  const read = await Promise.all(rows.map(({ chain }) => readStoredChain(chain)))
  return [...new Set(read.flatMap(({ root }) => root ?? []))]
}
