/** A credential as JWT, and its bare steps: the same JSON, base64url and one call of the signature library. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { createRequire } from 'node:module'
import { fromBase64 } from '../src/foundation/bytes.ts'
import { generateKey, toPublic, type PrivateJwk } from '../src/foundation/crypto/keys.ts'
import type { DidDocument } from '../src/did/document.ts'
import { deepFreeze } from '../src/did/fetch-cache.ts'

/** The used part of the libsecp256k1 package, which has no types. */
type Secp256k1 = {
  publicKeyCreate(privateKey: Uint8Array): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array }
  ecdsaVerify(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean
}

export const issuer = 'did:example:issuer'
export const now = Math.floor(Date.now() / 1_000)
export const claims = {
  givenName: 'Alice',
  familyName: 'Wonderland',
  dateOfBirth: '1990-01-01',
  drivingClass: 3,
  address: { city: 'Bern' },
}

/** A signature by the library alone. */
export type Bare = {
  library: string
  sign(input: string): Uint8Array
  verify(input: string, signature: Uint8Array): boolean
}

/** An issuer's key, its DID document, frozen as by the resolver, and the bare signature with it. */
export type Signer = { key: PrivateJwk; alg: 'ES256K' | 'EdDSA'; document: DidDocument; bare: Bare }

export function newSigner(alg: Signer['alg']): Signer {
  const key = generateKey(alg === 'EdDSA' ? 'Ed25519' : 'secp256k1')
  const id = `${issuer}#key-1`
  const document: DidDocument = deepFreeze({
    id: issuer,
    verificationMethod: [{ id, type: 'JsonWebKey2020', controller: issuer, publicKeyJwk: toPublic(key) }],
    assertionMethod: [id],
  })
  return { key, alg, document, bare: alg === 'EdDSA' ? bareEd25519(key) : bareSecp256k1(key) }
}

function bareSecp256k1(key: PrivateJwk): Bare {
  const secp256k1 = createRequire(import.meta.url)('secp256k1') as Secp256k1
  const secret = fromBase64(key.d)
  const point = secp256k1.publicKeyCreate(secret)
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return {
    library: 'libsecp256k1',
    sign: (input) => secp256k1.ecdsaSign(hash(input), secret).signature,
    verify: (input, signature) => secp256k1.ecdsaVerify(signature, hash(input), point),
  }
}

function bareEd25519(key: PrivateJwk): Bare {
  const privateKey = createPrivateKey({ key: key as never, format: 'jwk' })
  const publicKey = createPublicKey({ key: toPublic(key) as never, format: 'jwk' })
  return {
    library: 'node:crypto',
    sign: (input) => sign(null, Buffer.from(input), privateKey),
    verify: (input, signature) => verify(null, Buffer.from(input), publicKey, signature),
  }
}

/** Creates a token. */
export function signBare({ alg, bare }: Signer, payload: object): string {
  const input = `${encode({ typ: 'JWT', alg })}.${encode(payload)}`
  return `${input}.${Buffer.from(bare.sign(input)).toString('base64url')}`
}

/** Parses a token and verifies only its signature. @throws if it is invalid. */
export function verifyBare({ bare }: Signer, jwt: string): object {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  decode(header)
  if (!bare.verify(`${header}.${payload}`, Buffer.from(signature, 'base64url')))
    throw new Error('not verified')
  return decode(payload)
}

/** The payload of a token. */
export function payloadOf(jwt: string): Record<string, any> {
  return decode(jwt.split('.')[1]!) as Record<string, any>
}

export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

export function decode(text: string): object {
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as object
}
