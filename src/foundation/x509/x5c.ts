/**
 * The header member `x5c` (RFC 7515 §4.1.6): the certificate of the key first, each one signed by the next.
 * The profile HAIP 1.0 forbids the trust anchor there; in what others send it is accepted, and does not
 * count.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { firstFault } from '../faults.ts'
import type { PublicJwk } from '../crypto/keys.ts'
import {
  type AlternativeName,
  type Certificate,
  checkIssuingKey,
  findAuthorityKeyId,
  findKeyId,
  nameOf,
  parseCertificate,
  parsePem,
  toNames,
} from './certificate.ts'
import { ChainError, evaluate, maxCertificates } from './chain-error.ts'
import { checkLink, checkPath, isStatusIssuer, type Role } from './path.ts'

const X5c = z
  .array(
    z
      .string()
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'is not base64 (of DER, without -----BEGIN and line breaks)')
      .max(32_768),
  )
  .min(1)
  .max(maxCertificates)

export type X5cPolicy = {
  /** The certificates of trusted authorities, in PEM. */
  anchors: readonly string[]
  at: Date
  /** What the first certificate's key signs; by default credentials. */
  role?: Role
}

/** The verified certificate: its key, and its names. */
export type VerifiedCertificate = {
  publicKey: PublicJwk
  /**
   * The identifiers of the authorities on its path, from that which signed it up to the trust anchor,
   * base64url.
   */
  authorityKeyIds: string[]
  /** The SHA-256 of the DER of the trust anchor at which its path ends, base64url. */
  anchor: string
  /** Whether its authority lets it sign the status lists of others. */
  isStatusIssuer: boolean
  /** As in RFC 4514. */
  subject: string
  names: AlternativeName[]
  notAfter: Date
}

/** A certificate whose chain leads to no known authority, with the SHA-256 of its DER, base64url. */
export type PresentedCertificate = Pick<
  VerifiedCertificate,
  'publicKey' | 'subject' | 'names' | 'notAfter'
> & {
  hash: string
}

/**
 * Checks the certificates of a header among each other, without trust anchors: anyone can make such a chain.
 *
 * @throws {ChainError}
 */
export function checkX5c(x5c: unknown, at: Date, role: Role): PresentedCertificate {
  return evaluate(() => {
    const chain = readX5c(x5c).map(parseMember)
    const [leaf] = chain as [Certificate]
    const publicKey = checkIssuingKey(leaf, chain.length)
    checkPath(chain, at, [role])
    return {
      publicKey,
      subject: leaf.subject,
      names: toNames(leaf),
      notAfter: leaf.notAfter,
      hash: hashOf(leaf),
    }
  })
}

/** The SHA-256 of the DER, base64url. */
export function hashOf({ raw }: Certificate): string {
  return createHash('sha256').update(raw).digest('base64url')
}

/** The DER of each certificate in a header. @throws {ChainError} `malformed` */
export function readX5c(x5c: unknown): Buffer[] {
  const { data, error } = X5c.safeParse(x5c)
  if (error)
    throw new ChainError(
      'malformed',
      `${firstFault(error, 'x5c')}. It has 1 to ${maxCertificates} certificates in base64.`,
    )
  return data.map((text) => Buffer.from(text, 'base64'))
}

/** Parsed certificates by the SHA-256 of their DER: an issuer's are the same in all that it signs. */
const members = new LRUCache<string, Certificate>({ max: 200 })

/** Parses a certificate of a header, or finds it parsed. @throws {ChainError} `malformed` */
export function parseMember(der: Buffer, index: number, { length }: readonly unknown[]): Certificate {
  const key = createHash('sha256').update(der).digest('base64')
  const parsed = members.get(key) ?? parseCertificate(der, nameOf(index, length))
  members.set(key, parsed)
  return parsed
}

/** Verifies the certificates of a header against trust anchors. @throws {ChainError} */
export function verifyX5c(x5c: unknown, { anchors, at, role = 'issuer' }: X5cPolicy): VerifiedCertificate {
  return evaluate(() => {
    const chain = readX5c(x5c)
    const parsed: Certificate[] = []
    const read = (index: number) => (parsed[index] ??= parseMember(chain[index]!, index, chain))
    const leaf = read(0)
    const publicKey = checkIssuingKey(leaf, chain.length)
    const path = findPath({ x5c: chain, read }, anchors.flatMap(readTrusted), at, role)
    return {
      publicKey,
      authorityKeyIds: keyIdsOf(path),
      anchor: hashOf(path.at(-1)!),
      isStatusIssuer: isStatusIssuer(leaf),
      subject: leaf.subject,
      names: toNames(leaf),
      notAfter: leaf.notAfter,
    }
  })
}

/** Parsed trust anchors by their PEM: each verification needs all of a wallet. */
const readAnchors = new LRUCache<string, Certificate[]>({ max: 1_000 })

/** Parses the certificates of trust anchors in PEM, once. */
export function readTrusted(pem: string): Certificate[] {
  const read = readAnchors.get(pem) ?? parsePem(pem)
  readAnchors.set(pem, read)
  return read
}

/**
 * The path to a trust anchor, the end-entity certificate first. Certificates from the anchor up are left out.
 * The highest one is read first, and the others once it is of an anchor: what nobody vouches for costs no
 * more. Two anchors may have the same name, such as before and after a renewal.
 *
 * @throws {ChainError}
 */
export function findPath(
  { x5c, read }: { x5c: readonly Buffer[]; read: (index: number) => Certificate },
  trusted: readonly Certificate[],
  at: Date,
  role: Role,
): readonly Certificate[] {
  const end = x5c.findIndex((der, index) => index > 0 && trusted.some(({ raw }) => raw.equals(der)))
  const given = end === -1 ? x5c : x5c.slice(0, end)
  const place = given.length - 1
  const top = read(place)
  let failure: unknown = new ChainError(
    'untrusted',
    `${nameOf(place, given.length, top.subject)} was issued by ${top.parsed.issuer}, which is not a trust anchor.`,
  )
  let chain: Certificate[] | undefined
  for (const anchor of trusted.filter(({ subjectDer }) => subjectDer.equals(top.issuerDer))) {
    try {
      checkLink(top, anchor, place, given.length + 1)
      chain ??= given.map((_, index) => read(index))
      const path = [...chain, anchor]
      checkPath(path, at, [role])
      return path
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** The identifiers that a certificate of the path names as its authority, and that authority has. */
export function keyIdsOf(path: readonly Certificate[]): string[] {
  return path.slice(1).flatMap((authority, index) => {
    const keyId = findKeyId(authority)
    return keyId !== undefined && findAuthorityKeyId(path[index]!) === keyId ? [keyId] : []
  })
}
