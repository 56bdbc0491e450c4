/**
 * The proofs embedded in status list credentials, as the real agent writes them (wire.md 8.3): `EcdsaSecp256k1Signature2019` over canonical
 * N-Quads, and `DataIntegrityProof` with eddsa-jcs-2022, which is also taken as its specification has it.
 *
 * What a proof says of its key is for wallets that cannot resolve a DID. Here the keys are those of the issuer's document and no others,
 * because nothing else ties a key to the issuer.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonicalize } from '../base/jcs.ts'
import {
  concat,
  fromBase64,
  fromMultibase,
  toBase64url,
  toMultibase,
  toPaddedBase64url,
  utf8,
} from '../base/bytes.ts'
import { type Curve, type PrivateJwk, type PublicJwk, sign, toPublic, verify } from '../crypto/keys.ts'
import { toMultikey } from '../did/multikey.ts'
import type { JsonObject } from '../base/json.ts'
import { StatusList2021, toCanonicalQuads } from './status-list-2021.ts'

const EmbeddedProof = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('EcdsaSecp256k1Signature2019'),
    proofPurpose: z.literal('assertionMethod'),
    jws: z.string().max(1_000),
  }),
  z.looseObject({
    type: z.literal('DataIntegrityProof'),
    proofPurpose: z.literal('assertionMethod'),
    // The real agent spells it with a capital S.
    cryptosuite: z.literal('eddsa-jcs-2022').optional(),
    cryptoSuite: z.literal('eddsa-jcs-2022').optional(),
    // 64 bytes; base58 costs the square of its length.
    proofValue: z.string().max(100),
  }),
])

/** The header of a detached JWS whose payload is not encoded (RFC 7797). */
const DetachedHeader = z.strictObject({
  alg: z.literal('ES256K'),
  b64: z.literal(false),
  crit: z.tuple([z.literal('b64')]),
})

/** Signs a list with a key of secp256k1 or Ed25519. `created` is an ISO 8601 instant. */
export function proveStatusList(list: StatusList2021, key: PrivateJwk, created: string): object {
  const common = { proofPurpose: 'assertionMethod', verificationMethod: toDataUrl(key), created }
  if (key.crv !== 'secp256k1') {
    const proofValue = toMultibase(sign(key, utf8(canonicalize(list))))
    return { type: 'DataIntegrityProof', cryptoSuite: 'eddsa-jcs-2022', ...common, proofValue }
  }
  const header = toBase64url(JSON.stringify({ b64: false, crit: ['b64'], alg: 'ES256K' }))
  const signature = sign(key, utf8(`${header}.${toCanonicalQuads(list)}`))
  return { type: 'EcdsaSecp256k1Signature2019', ...common, jws: `${header}..${toBase64url(signature)}` }
}

/**
 * True when the proof in a list was made by one of `keys`.
 *
 * @throws {z.ZodError | TypeError} when there is no proof that can be checked here, or the list has members that its signature would not cover.
 */
export function isProvedBy({ proof, ...list }: JsonObject, keys: readonly PublicJwk[]): boolean {
  const read = EmbeddedProof.parse(proof)
  const { curve, signed, signature } =
    read.type === 'DataIntegrityProof' ? ofJcs(list, read) : ofQuads(list, read.jws)
  return keys.some((key) => key.crv === curve && signed.some((bytes) => verify(key, bytes, signature)))
}

/** The signature, the curve of the key that makes such ones, and what may have been signed. */
type Signed = { curve: Curve; signed: Uint8Array[]; signature: Uint8Array }

/** The real agent signs the document alone; the specification, a hash of the proof's options and one of the document (vc-di-eddsa §3.3). */
function ofJcs(list: JsonObject, { proofValue, ...options }: { proofValue: string }): Signed {
  const document = utf8(canonicalize(list))
  const hashes = concat(sha256(utf8(canonicalize(options))), sha256(document))
  return { curve: 'Ed25519', signed: [document, hashes], signature: fromMultibase(proofValue) }
}

function ofQuads(list: JsonObject, jws: string): Signed {
  const [header, payload, signature, ...more] = jws.split('.')
  if (header === undefined || payload !== '' || signature === undefined || more.length > 0)
    throw new TypeError('the proof is no detached JWS')
  DetachedHeader.parse(JSON.parse(Buffer.from(fromBase64(header)).toString()))
  const quads = toCanonicalQuads(StatusList2021.parse(list))
  return { curve: 'secp256k1', signed: [utf8(`${header}.${quads}`)], signature: fromBase64(signature) }
}

/** The key as the wallets look for it. Nothing in it takes the characters in which the two alphabets of base64 differ (wire.md 8.3). */
function toDataUrl(key: PrivateJwk): string {
  const { kty, crv, x, y } = toPublic(key)
  const method =
    crv === 'secp256k1'
      ? {
          '@context': ['https://w3id.org/security/v1'],
          type: 'EcdsaSecp256k1VerificationKey2019',
          publicKeyJwk: { kty, crv, key_ops: ['verify'], x, y },
        }
      : {
          '@context': ['https://w3id.org/security/multikey/v1'],
          type: 'Multikey',
          publicKeyMultibase: toMultikey(key),
        }
  return `data:application/json;base64,${toPaddedBase64url(JSON.stringify(method))}`
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
