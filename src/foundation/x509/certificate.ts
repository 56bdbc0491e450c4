/** A parsed certificate (RFC 5280). */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { type GeneralName, SubjectAlternativeName } from '@peculiar/asn1-x509'
import { type Curve, type PublicJwk, toPublic } from '../crypto/keys.ts'
import { ChainError } from './chain-error.ts'
import { x509 } from './issue.ts'

export type Certificate = {
  /** DER. */
  raw: Buffer
  /** As in RFC 4514. */
  subject: string
  /** The names in DER: names are compared byte by byte. */
  subjectDer: Buffer
  issuerDer: Buffer
  notBefore: Date
  notAfter: Date
  publicKey: KeyObject
  names: readonly GeneralName[]
  parsed: x509.X509Certificate
  /** Whether a key made the signature. */
  isSignedBy: (key: KeyObject) => boolean
}

/** A subject alternative name that issuers are known by. */
export type AlternativeName = { type: 'dns' | 'uri'; value: string }

/** The longest certificate in bytes. */
const maxBytes = 16_384

class FormatError extends Error {}

/** Parses DER. `what` names the certificate in errors. @throws {ChainError} `malformed` */
export function parseCertificate(raw: Buffer, what: string): Certificate {
  try {
    if (raw.length > maxBytes) throw new FormatError(`it has more than ${maxBytes} bytes`)
    const [node, parsed] = [new X509Certificate(raw), new x509.X509Certificate(raw)]
    // Node.js reads PEM too, and ignores bytes after the end. The two parsers must have read the same bytes.
    if (!node.raw.equals(raw) || !Buffer.from(parsed.rawData).equals(raw))
      throw new FormatError('it has bytes before or after its DER')
    const [names] = parsed.extensions.filter(({ type }) => type === '2.5.29.17')
    const oids = parsed.extensions.map(({ type }) => type)
    if (new Set(oids).size < oids.length) throw new FormatError('an extension is there twice')
    return {
      raw,
      subject: parsed.subject,
      subjectDer: Buffer.from(parsed.subjectName.toArrayBuffer()),
      issuerDer: Buffer.from(parsed.issuerName.toArrayBuffer()),
      notBefore: parsed.notBefore,
      notAfter: parsed.notAfter,
      publicKey: node.publicKey,
      names: names ? [...AsnConvert.parse(names.value, SubjectAlternativeName)] : [],
      parsed,
      isSignedBy: (key) => node.verify(key),
    }
  } catch (cause) {
    const reason = cause instanceof FormatError ? cause.message : 'it is not an X.509 certificate in DER'
    throw new ChainError('malformed', `${what} cannot be read: ${reason}.`, { cause })
  }
}

/** Parses the certificates of a text in PEM, in its order. @throws {ChainError} `malformed` */
export function parsePem(pem: string): Certificate[] {
  const blocks = [...pem.matchAll(/-----BEGIN ([^-]+)-----([^-]*)-----END \1-----/g)]
  const other = blocks.find(([, label]) => label !== 'CERTIFICATE')
  if (other) throw new ChainError('malformed', `It contains "${other[1]}": give certificates only.`)
  if (blocks.length === 0)
    throw new ChainError('malformed', 'It contains no certificate in PEM (-----BEGIN CERTIFICATE-----).')
  return blocks.map(([, , body], index) =>
    parseCertificate(Buffer.from(body!, 'base64'), nameOf(index, blocks.length)),
  )
}

export function toPemText({ raw }: Pick<Certificate, 'raw'>): string {
  return x509.PemConverter.encode(raw as unknown as ArrayBuffer, 'CERTIFICATE')
}

/** `Certificate 2 of 3`, and its subject. */
export function nameOf(index: number, count: number, subject?: string): string {
  return `Certificate ${index + 1} of ${count}${subject === undefined ? '' : ` (${subject})`}`
}

export function isSelfIssued({ subjectDer, issuerDer }: Certificate): boolean {
  return subjectDer.equals(issuerDer)
}

/** The identifier of a certificate's key (RFC 5280 §4.2.1.2), base64url. */
export function findKeyId({ parsed }: Certificate): string | undefined {
  return toBase64url(parsed.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId)
}

/** The identifier of the key that signed a certificate (RFC 5280 §4.2.1.1), base64url. */
export function findAuthorityKeyId({ parsed }: Certificate): string | undefined {
  return toBase64url(parsed.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId)
}

function toBase64url(hex: string | undefined): string | undefined {
  return hex === undefined ? undefined : Buffer.from(hex, 'hex').toString('base64url')
}

/** The curves of issuing keys that JWTs are signed with. */
const tokenCurves: readonly Curve[] = ['P-256']

const curvesByName: Readonly<Record<string, Curve>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

/** The key of a certificate; undefined for one that is not on one of the curves. */
export function findKey({ publicKey }: Certificate, curves = tokenCurves): PublicJwk | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey
  const curve = type === 'ed25519' ? 'Ed25519' : curvesByName[details?.namedCurve ?? '']
  // Keys on curves without a name for JWKs cannot be exported.
  if (curve === undefined || !curves.includes(curve)) return undefined
  return toPublic(publicKey.export({ format: 'jwk' }) as PublicJwk)
}

/** The kind of a certificate’s key. */
function kindOf({ publicKey }: Certificate): string {
  const curve = publicKey.asymmetricKeyDetails?.namedCurve
  return curve === undefined ? `a key of the type ${publicKey.asymmetricKeyType}` : `a key on ${curve}`
}

/** The key of a certificate, which must be on one of the curves. @throws {ChainError} `key` */
export function requireKey(leaf: Certificate, count: number, curves = tokenCurves): PublicJwk {
  const key = findKey(leaf, curves)
  if (key) return key
  const supported = curves.join(', ')
  throw new ChainError(
    'key',
    `${nameOf(0, count, leaf.subject)} is for ${kindOf(leaf)}; only keys on ${supported} are supported.`,
  )
}

/** The key of a certificate that an authority signed. @throws {ChainError} as `requireKey`, `self-signed` */
export function checkIssuingKey(leaf: Certificate, count: number, curves = tokenCurves): PublicJwk {
  if (isSelfIssued(leaf))
    throw new ChainError(
      'self-signed',
      `${nameOf(0, count, leaf.subject)} is self-signed: an authority must sign it.`,
    )
  return requireKey(leaf, count, curves)
}

/** The DNS names and URIs of a certificate. */
export function toNames({ names }: Certificate): AlternativeName[] {
  return names.flatMap(({ dNSName, uniformResourceIdentifier: uri }) => [
    ...(dNSName === undefined ? [] : [{ type: 'dns' as const, value: dNSName }]),
    ...(uri === undefined ? [] : [{ type: 'uri' as const, value: uri }]),
  ])
}
