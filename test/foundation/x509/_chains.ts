/** Certificates for tests, with any fault. */
import { generateKeyPairSync, type KeyObject, randomBytes, webcrypto } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } from '@peculiar/asn1-x509'
import { x509 } from '../../../src/foundation/x509/issue.ts'

const p256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000
const { keyCertSign, digitalSignature } = x509.KeyUsageFlags

export type Made = { certificate: x509.X509Certificate; keys: webcrypto.CryptoKeyPair; subject: string }

export type Options = {
  isAuthority?: boolean
  pathLength?: number
  usages?: number
  /** Days from now. */
  from?: number
  until?: number
  names?: x509.JsonGeneralNames
  extensions?: x509.Extension[]
  /** The name in `issuer`, instead of that of the authority. */
  issuerName?: string
  algorithm?: { name: string; namedCurve?: string; hash?: string }
  keys?: webcrypto.CryptoKeyPair
  /** The key in the certificate, as SPKI in DER, instead of that which signs. */
  publicKey?: Uint8Array<ArrayBuffer>
  /** Without basic constraints and key usage. */
  isBare?: boolean
  /** With the identifiers of its key and of the authority's. */
  isIdentified?: boolean
}

const keysOf = (algorithm: NonNullable<Options['algorithm']> = p256) =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>

/** Makes a certificate that `by` signs, or a root without it. */
export async function make(subject: string, by?: Made, options: Options = {}): Promise<Made> {
  const { isAuthority = false, from = -1, until = 100, names, extensions = [], isBare = false } = options
  const keys = options.keys ?? (await keysOf(options.algorithm))
  const signer = (by?.keys ?? keys).privateKey
  const usages = options.usages ?? (isAuthority ? keyCertSign : digitalSignature)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(8).toString('hex')}`,
    notBefore: new Date(Date.now() + from * dayMs),
    notAfter: new Date(Date.now() + until * dayMs),
    subject,
    issuer: options.issuerName ?? by?.subject ?? subject,
    publicKey: options.publicKey ?? keys.publicKey,
    signingKey: signer,
    signingAlgorithm: { name: signer.algorithm.name, hash: 'SHA-256' },
    extensions: [
      ...(isBare
        ? []
        : [
            new x509.BasicConstraintsExtension(isAuthority, options.pathLength, true),
            new x509.KeyUsagesExtension(usages, true),
          ]),
      ...(names ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ...(options.isIdentified ? await identifiersOf(keys.publicKey, by) : []),
      ...extensions,
    ],
  })
  return { certificate, keys, subject }
}

async function identifiersOf(key: webcrypto.CryptoKey, by?: Made): Promise<x509.Extension[]> {
  const own = await x509.SubjectKeyIdentifierExtension.create(key)
  return by ? [own, await x509.AuthorityKeyIdentifierExtension.create(by.certificate.publicKey)] : [own]
}

export const authority = (subject: string, by?: Made, options: Options = {}) =>
  make(subject, by, { isAuthority: true, ...options })

/** Constraints on DNS names, or on URIs. */
export function constraints(
  permitted: string[],
  excluded: string[] = [],
  form: 'dNSName' | 'uniformResourceIdentifier' = 'dNSName',
): x509.Extension {
  const subtrees = (bases: string[]) =>
    new GeneralSubtrees(bases.map((each) => new GeneralSubtree({ base: new GeneralName({ [form]: each }) })))
  const value = new NameConstraints({
    ...(permitted.length > 0 && { permittedSubtrees: subtrees(permitted) }),
    ...(excluded.length > 0 && { excludedSubtrees: subtrees(excluded) }),
  })
  return new x509.Extension('2.5.29.30', true, AsnConvert.serialize(value))
}

/** A key for a certificate. */
export const spkiOf = (key: KeyObject) => Uint8Array.from(key.export({ type: 'spki', format: 'der' }))

/** A new public key on a curve, such as one without a name for JWKs. */
export const onCurve = (namedCurve: string) => spkiOf(generateKeyPairSync('ec', { namedCurve }).publicKey)

/**
 * An RSA key whose public exponent is as long as the modulus, so that its signatures take long to verify: the
 * exponents of a usual key, exchanged.
 */
export async function slowKeys(modulusLength: number): Promise<webcrypto.CryptoKeyPair> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength })
  const { kty, n, e, d, p, q, qi } = privateKey.export({ format: 'jwk' })
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const read = (jwk: object, usage: 'sign' | 'verify') =>
    webcrypto.subtle.importKey('jwk', { kty: kty!, ...jwk }, algorithm, true, [usage])
  return {
    publicKey: await read({ n, e: d }, 'verify'),
    privateKey: await read({ n, e: d, d: e, p, q, dp: e, dq: e, qi }, 'sign'),
  }
}

/** A header member `x5c`. */
export const x5cOf = (...chain: Made[]) =>
  chain.map(({ certificate }) => Buffer.from(certificate.rawData).toString('base64'))

export const pemOf = (...chain: Made[]) =>
  chain.map(({ certificate }) => certificate.toString('pem')).join('\n')

/**
 * Has an authority sign a certificate signing request, with the extensions that it asks for. Takes and
 * returns PEM.
 */
export async function signRequest(
  request: string,
  by: Made,
  notAfter = new Date(Date.now() + 90 * dayMs),
): Promise<string> {
  const { subject, publicKey, attributes } = new x509.Pkcs10CertificateRequest(request)
  const [asked] = attributes.filter((each) => each instanceof x509.ExtensionsAttribute)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: '0102',
    notBefore: new Date(Date.now() - dayMs),
    notAfter,
    subject,
    issuer: by.subject,
    publicKey,
    signingKey: by.keys.privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: asked!.items,
  })
  return certificate.toString('pem')
}
