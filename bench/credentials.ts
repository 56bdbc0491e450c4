/** Credentials signed and verified, next to the bare steps: the same JSON, base64url and one call of the library that signs. */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { compactVerify, CompactSign, importJWK } from 'jose'
import { fromBase64, toBase64url, utf8 } from '../src/base/bytes.ts'
import { issueJwtVc, verifyJwtVc } from '../src/credentials/jwt-vc.ts'
import { generateKey, toPublic, type PrivateJwk } from '../src/crypto/keys.ts'
import type { DidDocument } from '../src/did/document.ts'
import type { Work } from './_harness.ts'

/** What is used of libsecp256k1's package, which has no types of its own. */
type Secp256k1 = {
  publicKeyCreate(privateKey: Uint8Array): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array }
  ecdsaVerify(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean
}

const did = 'did:example:issuer'
const now = Math.floor(Date.now() / 1_000)

function contentOf(issuerKey: PrivateJwk) {
  const claims = { givenName: 'Alice', familyName: 'Wonderland', dateOfBirth: '1990-01-01', drivingClass: 3, address: { city: 'Bern' } }
  return { issuerDid: did, issuerKey, subjectDid: 'did:example:holder', claims, schemas: [], validityPeriod: 3_600, now }
}

function resolverOf(issuerKey: PrivateJwk): () => Promise<DidDocument> {
  const id = `${did}#key-1`
  const document: DidDocument = {
    id: did,
    verificationMethod: [{ id, type: 'JsonWebKey2020', controller: did, publicKeyJwk: toPublic(issuerKey) }],
    assertionMethod: [id],
  }
  return () => Promise.resolve(document)
}

/** Takes a token's payload and makes the same token of it, with nothing but the signature's own library. */
function payloadOf(jwt: string): object {
  return JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as object
}

/** ES256K: the bare steps call libsecp256k1. */
export function secp256k1Suites(): Record<string, Work[]> {
  const library = createRequire(import.meta.url)('secp256k1') as Secp256k1
  const key = generateKey('secp256k1')
  const content = contentOf(key)
  const jwt = issueJwtVc(content)
  const payload = payloadOf(jwt)
  const secret = fromBase64(key.d)
  const point = library.publicKeyCreate(secret)
  const hash = (text: string) => createHash('sha256').update(text).digest()
  const resolve = resolverOf(key)
  return {
    'Credentials: sign a JWT, ES256K': [
      { name: 'identity-agent', once: () => issueJwtVc(content) },
      {
        name: 'bare steps, libsecp256k1',
        once: () => {
          const input = `${toBase64url(JSON.stringify({ typ: 'JWT', alg: 'ES256K' }))}.${toBase64url(JSON.stringify(payload))}`
          return `${input}.${toBase64url(library.ecdsaSign(hash(input), secret).signature)}`
        },
      },
    ],
    'Credentials: verify a JWT, ES256K': [
      { name: 'identity-agent', once: () => verifyJwtVc(jwt, { resolve, now }) },
      {
        name: 'bare steps, libsecp256k1',
        once: () => {
          const [header, body, signature] = jwt.split('.') as [string, string, string]
          JSON.parse(Buffer.from(header, 'base64url').toString())
          JSON.parse(Buffer.from(body, 'base64url').toString())
          if (!library.ecdsaVerify(Buffer.from(signature, 'base64url'), hash(`${header}.${body}`), point)) throw new Error('not verified')
        },
      },
    ],
  }
}

/** EdDSA: the same with jose. */
export async function ed25519Suites(): Promise<Record<string, Work[]>> {
  const key = generateKey('Ed25519')
  const content = contentOf(key)
  const jwt = issueJwtVc(content)
  const bytes = utf8(JSON.stringify(payloadOf(jwt)))
  const [privateKey, publicKey] = [await importJWK(key, 'EdDSA'), await importJWK(toPublic(key), 'EdDSA')]
  const resolve = resolverOf(key)
  return {
    'Credentials: sign a JWT, EdDSA': [
      { name: 'identity-agent', once: () => issueJwtVc(content) },
      { name: 'jose', once: () => new CompactSign(bytes).setProtectedHeader({ typ: 'JWT', alg: 'EdDSA' }).sign(privateKey) },
    ],
    'Credentials: verify a JWT, EdDSA': [
      { name: 'identity-agent', once: () => verifyJwtVc(jwt, { resolve, now }) },
      { name: 'jose', once: () => compactVerify(jwt, publicKey) },
    ],
  }
}
