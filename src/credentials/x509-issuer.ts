/** The issuer of a credential without `iss`, which its certificate names (HAIP 1.0, SD-JWT VC §2.2.2.3). Nothing is verified here. */
import { createHash, X509Certificate } from 'node:crypto'
import { VerificationError } from './verification-error.ts'

/** Before the SHA-256 digest of a certificate without names, base64url, as in client ids of OpenID4VP. */
export const x509HashPrefix = 'x509_hash:'

/**
 * The issuer that the first certificate of `x5c` is for: its first URI, else its first DNS name as URL, else its hash.
 *
 * @throws {VerificationError} `malformed`
 */
export function issuerInCertificate(x5c: unknown): string {
  const [leaf] = Array.isArray(x5c) ? (x5c as unknown[]) : []
  if (typeof leaf !== 'string')
    throw new VerificationError(
      'malformed',
      'The payload is invalid: iss is missing, and x5c has no certificate',
    )
  const der = Buffer.from(leaf, 'base64')
  const names = namesOf(der)
  const of = (type: string) => names.find((name) => name.type === type)?.value
  const [uri, dns] = [of('URI'), of('DNS')]
  if (uri !== undefined) return uri
  if (dns !== undefined) return `https://${dns}`
  return x509HashPrefix + createHash('sha256').update(der).digest('base64url')
}

/** The text of Node.js: `DNS:a.example, URI:https://a.example`, with a name in quotes as JSON if it contains separators. */
function namesOf(der: Buffer): { type: string; value: string }[] {
  const text = readNames(der)
  return [...text.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/g)].map(([, type, value]) => ({
    type: type!,
    value: value!.startsWith('"') ? (JSON.parse(value!) as string) : value!,
  }))
}

function readNames(der: Buffer): string {
  try {
    return new X509Certificate(der).subjectAltName ?? ''
  } catch (cause) {
    throw new VerificationError('malformed', 'The first certificate in x5c cannot be read', { cause })
  }
}
