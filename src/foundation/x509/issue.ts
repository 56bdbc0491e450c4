/** Creates certificates (RFC 5280) and certificate signing requests (PKCS #10, RFC 2986) with P-256 keys. */
// oxlint-disable-next-line no-unassigned-import -- it defines what the library calls
import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import type { PrivateJwk, PublicJwk } from '../crypto/keys.ts'

x509.cryptoProvider.set(webcrypto as never)

/** The library for X.509, with the cryptography of Node.js. */
export { x509 }

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

/** A certificate and its private key, in PEM. The key is PKCS #8. */
export type Pair = { certificate: string; key: string }

/**
 * Makes a self-signed authority. It signs end-entity certificates only. `days` begin a day ago. `subject` is
 * text as in RFC 4514.
 */
export async function issueAuthority(
  subject: string,
  days: number,
  extensions: readonly x509.Extension[] = [],
): Promise<Pair> {
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(days),
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ...extensions,
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await toPem(keys.privateKey) }
}

/** Text as in RFC 4514, or its parts: `[{ CN: [{ utf8String: 'Acme' }] }]`. */
type Subject = string | Record<string, { utf8String?: string; printableString?: string }[]>[]
const toName = (subject: Subject) => new x509.Name(subject)

type EndEntity = {
  subject: Subject
  names: readonly x509.JsonGeneralName[]
  publicKey: webcrypto.CryptoKey
  days: number
  extensions?: readonly x509.Extension[]
}

/** Makes an end-entity certificate for signatures. `days` begin a day ago. Returns PEM. */
export async function issueCertificate(
  authority: Pair,
  { subject, names, publicKey, days, extensions = [] }: EndEntity,
): Promise<string> {
  const issuer = new x509.X509Certificate(authority.certificate)
  const [pkcs8] = x509.PemConverter.decode(authority.key)
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(days),
    subject: toName(subject),
    issuer: issuer.subject,
    publicKey,
    signingKey: await webcrypto.subtle.importKey('pkcs8', pkcs8!, algorithm, false, ['sign']),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      new x509.SubjectAlternativeNameExtension([...names]),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return certificate.toString('pem')
}

/** Makes a certificate signing request, in PEM. `subject` of the result is text as in RFC 4514. */
export async function createRequest(
  key: PrivateJwk,
  subject: Subject,
  names: readonly x509.JsonGeneralName[],
): Promise<{ request: string; subject: string }> {
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
      new x509.SubjectAlternativeNameExtension([...names]),
    ],
  })
  return { request: request.toString('pem'), subject: request.subject }
}

export function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

export function importPublic({ kty, crv, x, y }: PublicJwk): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('jwk', { kty, crv, x, y: y! }, algorithm, true, ['verify'])
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
