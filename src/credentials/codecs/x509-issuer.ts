/**
 * The issuer of a credential: the DID in `iss`, or else the subject of the first certificate in `x5c` (SD-JWT
 * VC §2.5), in the form of `iss`. Nothing is verified here.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { VerificationError } from './verification-error.ts'

/** Before the SHA-256 digest of a certificate without names, base64url, as in client ids of OpenID4VP. */
export const x509HashPrefix = 'x509_hash:'

/** A subject alternative name. */
type Name = { type: 'dns' | 'uri'; value: string }

/**
 * Beside a certificate, `iss` counts only if the certificate names it: an issuer may write any. The issuer is
 * then the first URI in the certificate, else its first DNS name as URL, else its hash.
 *
 * @throws {VerificationError} `malformed` when nothing names the issuer
 */
export function issuerOf(iss: string | undefined, x5c: unknown): string {
  if (iss?.startsWith('did:')) return iss
  const der = firstOf(x5c)
  const names = der && findNames(der)
  if (der === undefined || names === undefined) {
    if (iss !== undefined) return iss
    const reason = der ? 'the first certificate in x5c cannot be read' : 'x5c has no certificate'
    throw new VerificationError('malformed', `The payload is invalid: iss is missing, and ${reason}`)
  }
  if (iss !== undefined && isNamed(iss, names)) return iss
  const of = (type: Name['type']) => names.find((name) => name.type === type)?.value
  const [uri, dns] = [of('uri'), of('dns')]
  if (uri !== undefined) return uri
  return dns === undefined ? hashOf(der) : `https://${dns}`
}

/**
 * Whether a certificate with these names is for an issuer: a URI is equal, or a DNS name is the host of an
 * `https` URL.
 */
export function isNamed(issuer: string, names: readonly Name[]): boolean {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  // A user name before the host looks like another host.
  const isPlain = url?.protocol === 'https:' && url.username + url.password === ''
  const host = isPlain ? url.hostname : undefined
  return names.some(({ type, value }) => (type === 'uri' ? value === issuer : value.toLowerCase() === host))
}

/** Whether an issuer is a certificate without names: that with this hash. */
export function isHashed(issuer: string, x5c: unknown): boolean {
  const der = firstOf(x5c)
  return der !== undefined && issuer === hashOf(der)
}

function hashOf(der: Buffer): string {
  return x509HashPrefix + createHash('sha256').update(der).digest('base64url')
}

function firstOf(x5c: unknown): Buffer | undefined {
  const [first] = Array.isArray(x5c) ? (x5c as unknown[]) : []
  return typeof first === 'string' ? Buffer.from(first, 'base64') : undefined
}

const nameTypes = { DNS: 'dns', URI: 'uri' } as const

/**
 * Undefined for what is not a certificate. Node.js writes `DNS:a.example, URI:https://a.example`, with a name
 * in quotes as JSON if it contains separators.
 */
function findNames(der: Buffer): Name[] | undefined {
  try {
    const text = new X509Certificate(der).subjectAltName ?? ''
    const matches = text.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/g)
    return [...matches].flatMap(([, label, value]) => {
      const type = nameTypes[label as keyof typeof nameTypes]
      if (!type) return []
      return [{ type, value: value!.startsWith('"') ? (JSON.parse(value!) as string) : value! }]
    })
  } catch {
    return undefined
  }
}
