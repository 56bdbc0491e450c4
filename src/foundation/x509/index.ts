/**
 * The chains of issuing keys and the trust anchors, in PEM; `x5c.ts` has the header member.
 *
 * Other folders load this file with `import()`, because the library takes time to load.
 */
import { isSameKey, type PublicJwk } from '../crypto/keys.ts'
import {
  type Certificate,
  checkIssuingKey,
  findAuthorityKeyId,
  findKeyId,
  findKey,
  isSelfIssued,
  nameOf,
  parseCertificate,
  parsePem,
  toPemText,
} from './certificate.ts'
import { ChainError, evaluate, maxCertificates } from './chain-error.ts'
import { checkProfile } from './mdoc-chain.ts'
import type { MdocProfile } from './mdoc-profile.ts'
import { checkAnchor, checkPath } from './path.ts'

export { parsePem, toNames, toPemText } from './certificate.ts'
export { ChainError } from './chain-error.ts'
export { createRequest, importPublic, issueAuthority, issueCertificate } from './issue.ts'
export { issueList } from './crl.ts'
export { checkListSigner, checkMdocChain } from './mdoc-chain.ts'
export { findFaultsIn, type MdocRole } from './mdoc-profile.ts'
export { createMdocRequest, issueMdocAuthority, issueMdocCertificate } from './mdoc-issue.ts'
export type { MdocAnchor, MdocChain, MdocPolicy } from './mdoc-chain.ts'
export type { Role } from './path.ts'
export { checkX5c, verifyX5c } from './x5c.ts'
export type { PresentedCertificate, VerifiedCertificate, X5cPolicy } from './x5c.ts'

/**
 * Parses and checks the chain of an issuing key: the key's certificate first, each one signed by the next.
 * Those of a profile must not lack what it requires; `warnings` are sentences about what it recommends.
 *
 * @throws {ChainError}
 */
export function readChain(
  pem: string,
  key: PublicJwk,
  at: Date,
  profile?: MdocProfile,
): { chain: Certificate[]; warnings: string[] } {
  return evaluate(() => {
    const chain = checkChain(pem, key, at)
    return { chain, warnings: profile ? checkProfile(chain, profile) : [] }
  })
}

function checkChain(pem: string, key: PublicJwk, at: Date): Certificate[] {
  const chain = parsePem(pem)
  if (chain.length > maxCertificates)
    throw new ChainError('malformed', `It has ${chain.length} certificates; ${maxCertificates} are the most.`)
  const isOwn = (each: Certificate) => {
    const found = findKey(each, [key.crv])
    return found !== undefined && isSameKey(found, key)
  }
  const place = chain.findIndex(isOwn)
  if (place > 0)
    throw new ChainError(
      'order',
      `${nameOf(place, chain.length, chain[place]!.subject)} is for this key: put it first, and then the certificate of its issuer.`,
    )
  checkIssuingKey(chain[0]!, chain.length, [key.crv])
  if (place === -1)
    throw new ChainError(
      'key',
      `${nameOf(0, chain.length, chain[0]!.subject)} is for another key: put the certificate that was made for this request first.`,
    )
  // The wallet decides what the key signs.
  checkPath(chain, at, ['issuer', 'verifier', 'status'])
  return chain
}

/** The certificates of `x5c`: without the root. */
export function withoutRoot<T extends Certificate>(chain: readonly T[]): T[] {
  return isSelfIssued(chain.at(-1)!) ? chain.slice(0, -1) : [...chain]
}

/** The authority that signed a certificate: its name, and the identifier of its key, base64url. */
export function authorityOf(certificate: Certificate): { subject: string; keyId?: string } {
  const keyId = findAuthorityKeyId(certificate)
  return { subject: certificate.parsed.issuer, ...(keyId !== undefined && { keyId }) }
}

/** Reads a certificate that is to be a trust anchor. @throws {ChainError} */
export function readAnchor(pem: string, at: Date): Anchor {
  return evaluate(() => {
    const [anchor, ...more] = parsePem(pem)
    if (more.length > 0)
      throw new ChainError('malformed', `It has ${more.length + 1} certificates: add each one by itself.`)
    checkAnchor(anchor!, at)
    return {
      pem: toPemText(anchor!),
      subject: anchor!.subject,
      keyId: findKeyId(anchor!),
      notAfter: anchor!.notAfter,
    }
  })
}

/**
 * The certificate in a list of authorities, in PEM. Undefined if it cannot be a trust anchor. Its dates are
 * checked when a chain ends at it.
 */
export function readListed(der: Uint8Array): string | undefined {
  try {
    const certificate = parseCertificate(Buffer.from(der), 'The certificate')
    checkAnchor(certificate, certificate.notBefore)
    return toPemText(certificate)
  } catch (error) {
    if (error instanceof ChainError) return undefined
    throw error
  }
}

export type Anchor = { pem: string; subject: string; keyId: string | undefined; notAfter: Date }
