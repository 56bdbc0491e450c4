/**
 * The chains of issuing keys: in PEM, and in the header member `x5c` (RFC 7515 §4.1.6), which has neither the trust anchor nor a self-signed
 * certificate (HAIP 1.0).
 *
 * Other folders load this file with `import()`, because the library takes time to load.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { isSameKey, type PublicJwk } from '../crypto/keys.ts'
import {
  type Certificate,
  findAuthorityKeyId,
  findKeyId,
  findP256Key,
  isSelfIssued,
  nameOf,
  parseCertificate,
  parsePem,
  toPemText,
} from './certificate.ts'
import { ChainError } from './chain-error.ts'
import { checkAnchor, checkPath } from './path.ts'

export { parsePem, toPemText } from './certificate.ts'
export { ChainError } from './chain-error.ts'
export { createRequest, importPublic, issueAuthority, issueCertificate } from './issue.ts'

const maxCertificates = 10

const X5c = z
  .array(
    z
      .string()
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'is not base64')
      .max(32_768),
  )
  .min(1)
  .max(maxCertificates)

export type X5cPolicy = {
  /** The certificates of trusted authorities, in PEM. */
  anchors: readonly string[]
  at: Date
  /** A subject alternative name that the certificate must have. */
  name?: { type: 'dns' | 'uri'; value: string } | undefined
}

/** The verified certificate: its key, and its names. */
export type VerifiedCertificate = {
  publicKey: PublicJwk
  /** The identifiers of the authorities on its path, from that which signed it up to the trust anchor, base64url. */
  authorityKeyIds: string[]
  subject: string
  names: { type: 'dns' | 'uri'; value: string }[]
  notAfter: Date
}

/** A certificate whose chain leads to no known authority, with the SHA-256 of its DER, base64url. */
export type PresentedCertificate = Omit<VerifiedCertificate, 'authorityKeyIds'> & { hash: string }

/**
 * Checks the certificates of a header among each other, without trust anchors: anyone can make such a chain.
 *
 * @throws {ChainError}
 */
export function checkX5c(x5c: unknown, at: Date): PresentedCertificate {
  const chain = readX5c(x5c)
  const [leaf] = chain as [Certificate]
  const publicKey = checkIssuingKey(leaf, chain.length)
  checkAbsence(chain, [])
  checkPath(chain, at)
  const hash = createHash('sha256').update(leaf.raw).digest('base64url')
  return { publicKey, subject: leaf.subject, names: toNames(leaf), notAfter: leaf.notAfter, hash }
}

function readX5c(x5c: unknown): Certificate[] {
  const { success, data } = X5c.safeParse(x5c)
  if (!success)
    throw new ChainError(
      'malformed',
      `x5c is not an array of 1 to ${maxCertificates} certificates in base64.`,
    )
  return data.map((text, index) => parseCertificate(Buffer.from(text, 'base64'), nameOf(index, data.length)))
}

/** Verifies the certificates of a header against trust anchors. @throws {ChainError} */
export function verifyX5c(x5c: unknown, { anchors, at, name }: X5cPolicy): VerifiedCertificate {
  const chain = readX5c(x5c)
  const trusted = anchors.flatMap(readTrusted)
  const [leaf] = chain as [Certificate, ...Certificate[]]
  const publicKey = checkIssuingKey(leaf, chain.length)
  checkAbsence(chain, trusted)
  const path = checkTrust(chain, trusted, at)
  const names = toNames(leaf)
  if (name && !names.some(({ type, value }) => type === name.type && isSameName(type, value, name.value)))
    throw new ChainError(
      'name',
      `${nameOf(0, chain.length, leaf.subject)} is not for ${name.value}: its subject alternative names lack it.`,
    )
  return { publicKey, authorityKeyIds: keyIdsOf(path), subject: leaf.subject, names, notAfter: leaf.notAfter }
}

/** Parses and checks the chain of an issuing key: the key's certificate first, each one signed by the next. @throws {ChainError} */
export function readChain(pem: string, key: PublicJwk, at: Date): Certificate[] {
  const chain = parsePem(pem)
  if (chain.length > maxCertificates)
    throw new ChainError('malformed', `It has ${chain.length} certificates; ${maxCertificates} are the most.`)
  const isOwn = (each: Certificate) => {
    const found = findP256Key(each)
    return found !== undefined && isSameKey(found, key)
  }
  const place = chain.findIndex(isOwn)
  if (place > 0)
    throw new ChainError(
      'order',
      `${nameOf(place, chain.length, chain[place]!.subject)} is for this key: put it first, and then the certificate of its issuer.`,
    )
  checkIssuingKey(chain[0]!, chain.length)
  if (place === -1)
    throw new ChainError(
      'key',
      `${nameOf(0, chain.length, chain[0]!.subject)} is for another key: put the certificate that was made for this request first.`,
    )
  checkPath(chain, at)
  return chain
}

/** The certificates of `x5c`: without the root. */
export function withoutRoot<T extends Certificate>(chain: readonly T[]): T[] {
  return isSelfIssued(chain.at(-1)!) ? chain.slice(0, -1) : [...chain]
}

/** The DNS names and URIs of a certificate. */
export function toNames({ names }: Certificate): VerifiedCertificate['names'] {
  return names.flatMap(({ dNSName, uniformResourceIdentifier: uri }) => [
    ...(dNSName === undefined ? [] : [{ type: 'dns' as const, value: dNSName }]),
    ...(uri === undefined ? [] : [{ type: 'uri' as const, value: uri }]),
  ])
}

/** Parsed trust anchors by their PEM: each verification needs all of a wallet. */
const readAnchors = new LRUCache<string, Certificate[]>({ max: 500 })

function readTrusted(pem: string): Certificate[] {
  const read = readAnchors.get(pem) ?? parsePem(pem)
  readAnchors.set(pem, read)
  return read
}

function checkIssuingKey(leaf: Certificate, count: number): PublicJwk {
  const what = nameOf(0, count, leaf.subject)
  if (isSelfIssued(leaf))
    throw new ChainError('self-signed', `${what} is self-signed: an authority must sign it.`)
  const key = findP256Key(leaf)
  if (!key) throw new ChainError('key', `${what} is for a key that is not on P-256.`)
  return key
}

function checkAbsence(chain: readonly Certificate[], trusted: readonly Certificate[]): void {
  for (const [index, each] of chain.entries()) {
    if (isSelfIssued(each) || trusted.some(({ raw }) => raw.equals(each.raw)))
      throw new ChainError(
        'anchor-in-chain',
        `${nameOf(index, chain.length, each.subject)} is a root or a trust anchor, which x5c must not contain (HAIP 1.0).`,
      )
  }
}

/** Two anchors may have the same name, such as before and after a renewal. */
function checkTrust(
  chain: readonly Certificate[],
  trusted: readonly Certificate[],
  at: Date,
): readonly Certificate[] {
  const top = chain.at(-1)!
  const candidates = trusted.filter(({ subjectDer }) => subjectDer.equals(top.issuerDer))
  let failure: unknown = new ChainError(
    'untrusted',
    `${nameOf(chain.length - 1, chain.length, top.subject)} was issued by ${top.parsed.issuer}, which is not a trust anchor.`,
  )
  for (const anchor of candidates) {
    const path = [...chain, anchor]
    try {
      checkPath(path, at)
      return path
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** The identifiers that a certificate of the path names as its authority, and that authority has. */
function keyIdsOf(path: readonly Certificate[]): string[] {
  return path.slice(1).flatMap((authority, index) => {
    const keyId = findKeyId(authority)
    return keyId !== undefined && findAuthorityKeyId(path[index]!) === keyId ? [keyId] : []
  })
}

/** Reads a certificate that is to be a trust anchor. @throws {ChainError} */
export function readAnchor(pem: string, at: Date): Anchor {
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
}

export type Anchor = { pem: string; subject: string; keyId: string | undefined; notAfter: Date }

/** DNS names are compared without case, and `*` stands for no label here. */
function isSameName(type: 'dns' | 'uri', a: string, b: string): boolean {
  return type === 'dns' ? a.toLowerCase() === b.toLowerCase() : a === b
}
