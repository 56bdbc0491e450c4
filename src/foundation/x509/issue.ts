/** Creates certificates (RFC 5280) and certificate signing requests (PKCS #10, RFC 2986). */
// oxlint-disable-next-line no-unassigned-import -- it defines what the library calls
import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import type { Curve, PrivateJwk, PublicJwk } from '../crypto/keys.ts'

x509.cryptoProvider.set(webcrypto as never)

/** The library for X.509, with the cryptography of Node.js. */
export { x509 }

/** The curves of keys that certificates are made for. Authorities have one with a hash. */
export type CertificateCurve = keyof typeof hashes | 'Ed25519'
const hashes = { 'P-256': 'SHA-256', 'P-384': 'SHA-384', 'P-521': 'SHA-512' } as const

const dayMs = 86_400_000

/** The algorithm of keys on a curve and of their signatures, for the Web Cryptography API. */
export function algorithmFor(curve: Curve): { name: string; namedCurve?: string; hash?: string } {
  if (curve === 'Ed25519') return { name: curve }
  return { name: 'ECDSA', namedCurve: curve, hash: hashes[curve as keyof typeof hashes] }
}

/** A certificate and its private key, in PEM. The key is PKCS #8. */
export type Pair = { certificate: string; key: string }

/** Makes a self-signed authority. It signs end-entity certificates only. `days` begin a day ago. */
export async function issueAuthority(
  subject: Subject,
  days: number,
  extensions: readonly x509.Extension[] = [],
  curve: CertificateCurve = 'P-256',
): Promise<Pair> {
  const keys = await newKeys(curve)
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(days),
    name: toName(subject),
    keys,
    signingAlgorithm: algorithmFor(curve),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ...extensions,
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await toPem(keys.privateKey) }
}

/** Text as in RFC 4514, its parts: `[{ CN: [{ utf8String: 'Acme' }] }]`, or DER. */
export type Subject = string | Record<string, { utf8String?: string; printableString?: string }[]>[] | Buffer
const toName = (subject: Subject) => new x509.Name(subject)

type EndEntity = {
  subject: Subject
  names: readonly x509.JsonGeneralName[]
  publicKey: webcrypto.CryptoKey
  days: number
  extensions?: readonly x509.Extension[]
  /** Whether basic constraints say that it is not of an authority. */
  hasConstraints?: boolean
}

/** Makes an end-entity certificate for signatures. `days` begin a day ago. Returns PEM. */
export async function issueCertificate(
  authority: Pair,
  { subject, names, publicKey, days, extensions = [], hasConstraints = true }: EndEntity,
): Promise<string> {
  const { issuer, ...signing } = await readAuthority(authority)
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(days),
    subject: toName(subject),
    issuer: issuer.subjectName,
    publicKey,
    ...signing,
    extensions: [
      ...(hasConstraints ? [new x509.BasicConstraintsExtension(false, undefined, true)] : []),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension([...names])] : []),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return certificate.toString('pem')
}

/** The certificate of an authority, and how it signs. */
async function readAuthority({ certificate, key }: Pair) {
  const issuer = new x509.X509Certificate(certificate)
  const { namedCurve } = issuer.publicKey.algorithm as webcrypto.EcKeyAlgorithm
  const [signingAlgorithm, [pkcs8]] = [
    algorithmFor(namedCurve as CertificateCurve),
    x509.PemConverter.decode(key),
  ]
  const signingKey = await webcrypto.subtle.importKey('pkcs8', pkcs8!, signingAlgorithm, false, ['sign'])
  return { issuer, signingKey, signingAlgorithm }
}

/** Makes a certificate signing request, in PEM. `subject` of the result is text as in RFC 4514. */
export async function createRequest(
  key: PrivateJwk,
  subject: Subject,
  names: readonly x509.JsonGeneralName[],
  extensions: readonly x509.Extension[] = [],
): Promise<{ request: string; subject: string }> {
  const algorithm = algorithmFor(key.crv)
  const keys = {
    publicKey: await importPublic(key),
    privateKey: await webcrypto.subtle.importKey('jwk', { ...key }, algorithm, false, ['sign']),
  }
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: toName(subject),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension([...names])] : []),
    ],
  })
  return { request: request.toString('pem'), subject: request.subject }
}

export function newKeys(curve: CertificateCurve = 'P-256'): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithmFor(curve), true, [
    'sign',
    'verify',
  ]) as Promise<webcrypto.CryptoKeyPair>
}

export function importPublic({ kty, crv, x, y }: PublicJwk): Promise<webcrypto.CryptoKey> {
  const jwk = { kty, crv, x, ...(y !== undefined && { y }) }
  return webcrypto.subtle.importKey('jwk', jwk, algorithmFor(crv), true, ['verify'])
}

export async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

/** Clocks of other machines may be a little behind. */
function validity(days: number) {
  const now = Date.now()
  const serialNumber = `01${randomBytes(15).toString('hex')}`
  return { serialNumber, notBefore: new Date(now - dayMs), notAfter: new Date(now + (days - 1) * dayMs) }
}
