/** Credentials of issuers with X.509 certificates. */
import { webcrypto } from 'node:crypto'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { sign, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { authority, make, pemOf, x5cOf, type Made, type Options } from '../../foundation/x509/_chains.ts'
import { issueSdJwt, type Issued, type Verifier } from './_wallet.ts'

/** An authority whose certificate has a key identifier. */
export async function identifiedAuthority(subject: string, by?: Made): Promise<Made & { keyId: string }> {
  const keyId = Buffer.from(subject).toString('hex')
  const extensions = [
    new x509.SubjectKeyIdentifierExtension(keyId),
    ...(by && 'keyId' in by ? [authorityKey(by as Made & { keyId: string })] : []),
  ]
  const made = await authority(subject, by, { extensions })
  return { ...made, keyId: Buffer.from(keyId, 'hex').toString('base64url') }
}

/** The extension by which a certificate names the key of its authority. */
export function authorityKey({ keyId }: { keyId: string }): x509.Extension {
  return new x509.AuthorityKeyIdentifierExtension(Buffer.from(keyId, 'base64url').toString('hex'))
}

export const issuerUrl = 'https://issuer.example/acme'
export const issuerNames = [{ type: 'url' as const, value: issuerUrl }]

/** An issuer with a certificate. */
export type CertifiedIssuer = { key: PrivateJwk; x5c: string[] }

export async function certifiedIssuer(
  by: Made,
  options: Options = {},
  chain: Made[] = [],
): Promise<CertifiedIssuer> {
  const extensions = 'keyId' in by ? [authorityKey(by as Made & { keyId: string })] : []
  const made = await make('CN=Issuer', by, { names: issuerNames, extensions, ...options })
  const jwk = await webcrypto.subtle.exportKey('jwk', made.keys.privateKey)
  const { kty, crv, x, y, d } = jwk as Record<string, string>
  return { key: { kty, crv, x, y, d } as unknown as PrivateJwk, x5c: x5cOf(made, ...chain) }
}

/** An SD-JWT VC with `x5c` in its header. Without `iss`, unless the payload has one. */
export async function issueCertified({ key, x5c }: CertifiedIssuer, issued: Issued = {}): Promise<string> {
  const credential = await issueSdJwt({ ...issued, key })
  const [jwt, ...disclosures] = credential.split('~')
  const payload = JSON.parse(Buffer.from(jwt!.split('.')[1]!, 'base64url').toString())
  if (!(issued.payload && 'iss' in issued.payload)) delete payload.iss
  const parts = [{ alg: 'ES256', typ: 'dc+sd-jwt', x5c }, payload].map((part) =>
    toBase64url(JSON.stringify(part)),
  )
  const input = parts.join('.')
  return [`${input}.${toBase64url(sign(key, utf8(input)))}`, ...disclosures].join('~')
}

/** Adds the certificate of an authority to the trust anchors. */
export function trust({ tenant }: Pick<Verifier, 'tenant'>, ...anchors: Made[]) {
  return Promise.all(
    anchors.map((anchor) =>
      tenant.call('POST /trust-anchors', { body: { type: 'x509', value: pemOf(anchor) } }),
    ),
  )
}
