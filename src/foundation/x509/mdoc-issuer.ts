/**
 * The name of the issuer of an mdoc, which only its certificates tell. This file reads DER itself, so that
 * decoding an mdoc does not load the library for X.509.
 */
import { createHash } from 'node:crypto'

/** Object identifiers in DER: subjectAltName (2.5.29.17) and issuerAltName (2.5.29.18). */
const [subjectNames, issuerNames] = [Buffer.from('551d11', 'hex'), Buffer.from('551d12', 'hex')]

/** The tags of a DNS name and of a URI in a GeneralName (RFC 5280 §4.2.1.6). */
const [dnsTag, uriTag] = [0x82, 0x86]

/** The tag of the extensions of a certificate. */
const extensionsTag = 0xa3

/** Names that a certificate cannot prove: DIDs, whose documents have keys, and hashes of certificates. */
const provenElsewhere = /^(did|x509_hash):/i

/** Before the SHA-256 digest of a certificate, base64url. */
const hashPrefix = 'x509_hash:'

/**
 * The issuer of an mdoc: the first URI in the signer's subjectAltName, else its first DNS name as `https`
 * URL, else the first URI in its issuerAltName, else the hash of the authority, or of the signer if the
 * authority is not given. Nothing is verified here.
 *
 * @param x5c DER in base64, that of the signer first
 * @param authority DER of the root
 */
export function issuerOfMdoc(x5c: readonly string[], authority?: Buffer): string {
  const der = Buffer.from(x5c[0] ?? '', 'base64')
  const { subject, issuer } = findNames(der)
  const of = (names: readonly Element[], tag: number) => {
    const texts = names.filter((name) => name.tag === tag).map(({ content }) => content.toString('latin1'))
    return texts.find((text) => /^[\x21-\x7e]+$/.test(text) && !provenElsewhere.test(text))
  }
  const [uri, dns] = [of(subject, uriTag), of(subject, dnsTag)]
  if (uri !== undefined) return uri
  if (dns !== undefined) return `https://${dns}`
  const hash = () =>
    createHash('sha256')
      .update(authority ?? der)
      .digest('base64url')
  return of(issuer, uriTag) ?? hashPrefix + hash()
}

type Element = { tag: number; content: Buffer }

/** The alternative names of a certificate. None in what is not a certificate. */
function findNames(der: Buffer): { subject: Element[]; issuer: Element[] } {
  try {
    const [tbs] = read(inner(der))
    const extensions = read(tbs!.content).find(({ tag }) => tag === extensionsTag)
    const all = extensions ? read(inner(extensions.content)).map(({ content }) => read(content)) : []
    const of = (id: Buffer) => {
      const extension = all.find(([first]) => first?.content.equals(id))
      return extension ? read(inner(extension.at(-1)!.content)) : []
    }
    return { subject: of(subjectNames), issuer: of(issuerNames) }
  } catch {
    return { subject: [], issuer: [] }
  }
}

/** The content of the one element in `der`. */
function inner(der: Buffer): Buffer {
  return read(der)[0]!.content
}

/** The elements in `der`, one after the other (X.690 §8.1). @throws {RangeError} */
function read(der: Buffer): Element[] {
  const elements: Element[] = []
  for (let at = 0; at < der.length;) {
    const first = der.readUInt8(at + 1)
    const more = first < 0x80 ? 0 : first - 0x80
    const begin = at + 2 + more
    const length = more === 0 ? first : der.readUIntBE(at + 2, more)
    if (begin + length > der.length) throw new RangeError('an element is longer than its bytes')
    elements.push({ tag: der[at]!, content: der.subarray(begin, begin + length) })
    at = begin + length
  }
  return elements
}
