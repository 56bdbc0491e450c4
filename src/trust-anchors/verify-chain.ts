/**
 * Verifies certificates by the trust anchors of a wallet: those of issuers of credentials and status lists, and of verifiers that sign
 * their requests.
 */
import { createHash } from 'node:crypto'
import type { CertifiedKey, VerifyChain } from '../credentials/issuer-signature.ts'
import { x509HashPrefix } from '../credentials/x509-issuer.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { loadX509, readStoredChain } from '../issuer-certificates/certificates.ts'
import type { Db } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { VerifiedCertificate } from '../x509/index.ts'
import { findAnchorValues } from './anchors.ts'

const noAnchor = 'The issuer’s certificate chain ends at no trust anchor of this wallet: agent trust add'

/**
 * Creates the verifier of certificates for one verification, which reads the trust anchors once. With `own`, the roots of the wallet's
 * issuer certificates are trusted too: for what the wallet itself has signed.
 */
export function createChainVerifier({ db }: Pick<Wallet, 'db'>, { own = false } = {}): VerifyChain {
  let anchors: Promise<string[]> | undefined
  const known = new WeakMap<object, Promise<VerifiedCertificate>>()
  const verify = (x5c: unknown): Promise<VerifiedCertificate> => {
    const isArray = Array.isArray(x5c)
    const found = isArray ? known.get(x5c) : undefined
    if (found) return found
    anchors ??= own ? findOwnAnchors(db) : findAnchorValues(db, 'x509')
    const verified = verifyByAnchors(x5c, anchors)
    if (isArray) known.set(x5c, verified)
    return verified
  }
  return async (x5c, issuer): Promise<CertifiedKey> => {
    const { publicKey, authorityKeyIds, names } = await verify(x5c)
    if (isIssuer(x5c as string[], names, issuer)) return { publicKey, authorityKeyIds }
    throw new VerificationError('issuer-not-trusted', `The certificate is not for the issuer ${issuer}`)
  }
}

/**
 * Verifies the certificates of a header by the trust anchors of a wallet. The names are to be compared by the caller.
 *
 * @throws {VerificationError} `issuer-not-trusted`
 */
export function verifyTrustedChain(db: Db, x5c: unknown): Promise<VerifiedCertificate> {
  return verifyByAnchors(x5c, findAnchorValues(db, 'x509'))
}

async function verifyByAnchors(x5c: unknown, anchors: Promise<string[]>): Promise<VerifiedCertificate> {
  const { ChainError, verifyX5c } = await loadX509()
  try {
    return verifyX5c(x5c, { anchors: await anchors, at: new Date() })
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    const reason = cause.failure === 'untrusted' ? `${noAnchor}. ${cause.message}` : cause.message
    throw new VerificationError('issuer-not-trusted', reason.replace(/\.$/, ''), { cause })
  }
}

/**
 * Whether the first certificate is for an issuer: a URI in it is equal, a DNS name is the host of an `https` URL, or the issuer is its hash,
 * as of credentials without `iss` whose certificate has no names.
 */
function isIssuer([leaf]: string[], names: VerifiedCertificate['names'], issuer: string): boolean {
  if (issuer.startsWith(x509HashPrefix)) {
    const digest = createHash('sha256').update(Buffer.from(leaf!, 'base64')).digest('base64url')
    return issuer === x509HashPrefix + digest
  }
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  // A user name before the host looks like another host.
  const isPlain = url?.protocol === 'https:' && url.username + url.password === ''
  const host = isPlain ? url.hostname : undefined
  return names.some(({ type, value }) => (type === 'uri' ? value === issuer : value.toLowerCase() === host))
}

/** The trust anchors, and the roots of the chains of the wallet's issuer certificates, in PEM. */
async function findOwnAnchors(db: Db): Promise<string[]> {
  const chains = db.selectFrom('issuer_certificate').select('chain').where('chain', 'is not', null)
  const rows = await chains.$narrowType<{ chain: string }>().execute()
  const read = await Promise.all(rows.map(({ chain }) => readStoredChain(chain)))
  return [...(await findAnchorValues(db, 'x509')), ...new Set(read.flatMap(({ root }) => root ?? []))]
}
