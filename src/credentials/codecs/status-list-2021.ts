/**
 * StatusList2021 credentials in the form that Identus agents write and read, with their two embedded proofs:
 * `EcdsaSecp256k1Signature2019` over canonical N-Quads (RDFC-1.0), and `DataIntegrityProof` with
 * eddsa-jcs-2022 or, on P-256, ecdsa-jcs-2019.
 *
 * The form is fixed, with at most one blank node and no text that needs escaping. The quads are therefore
 * composed here, and a test compares them with a JSON-LD processor. Unknown members are refused, because the
 * signature would not cover them.
 *
 * The key in a proof is for wallets that cannot resolve a DID. Verification uses only keys of the issuer's
 * DID document.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import {
  concat,
  fromBase64,
  fromMultibase,
  toBase64url,
  toMultibase,
  toPaddedBase64url,
  utf8,
} from '../../foundation/bytes.ts'
import { canonicalize, type JsonObject } from '../../foundation/json.ts'
import {
  type Curve,
  type PrivateJwk,
  type PublicJwk,
  sign,
  toPublic,
  verify,
} from '../../foundation/crypto/keys.ts'
import { Did } from '../../did/document.ts'
import { toMultikey } from '../../did/multikey.ts'
import { Instant } from './validity.ts'

/** Wallets bundle the first context. The Cloud Agent uses the second, the redirect target of the first. */
export const statusListContexts = [
  'https://w3id.org/vc/status-list/2021/v1',
  'https://w3c.github.io/vc-bitstring-status-list/contexts/2021/v1.jsonld',
] as const
export const credentialsContext = 'https://www.w3.org/2018/credentials/v1'

/** A URL that needs no escaping in N-Quads. */
const Iri = z
  .string()
  .regex(/^(?:https?:\/\/|vdr:\/\/\?)[\w.~:/?#[\]@!$&'()*+,;=%-]+$/, 'is not an http, https or vdr URL')

export const StatusList2021 = z.strictObject({
  '@context': z.tuple([z.literal(credentialsContext), z.enum(statusListContexts)]),
  id: Iri,
  type: z.tuple([z.literal('VerifiableCredential'), z.literal('StatusList2021Credential')]),
  issuer: Did,
  issuanceDate: Instant.refine(
    (value) => typeof value === 'string' || Number.isSafeInteger(value),
    'is not a whole number',
  ),
  credentialSubject: z.strictObject({
    id: Iri.optional(),
    type: z.literal('StatusList2021'),
    statusPurpose: z.string().regex(/^[A-Za-z]+$/, 'is not a word'),
    encodedList: z.string().regex(/^[\w+/=-]+$/, 'is not base64'),
  }),
})
export type StatusList2021 = z.infer<typeof StatusList2021>

const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const credentials = 'https://www.w3.org/2018/credentials#'
const statusList = 'https://w3id.org/vc/status-list#'

/** The canonical N-Quads of a list, the input of its signature. */
export function toCanonicalQuads({ id, issuer, issuanceDate, credentialSubject }: StatusList2021): string {
  const list = `<${id}>`
  const subject = credentialSubject.id === undefined ? '_:c14n0' : `<${credentialSubject.id}>`
  const quads = [
    [list, rdfType, `<${credentials}VerifiableCredential>`],
    [list, rdfType, `<${statusList}StatusList2021Credential>`],
    [list, `${credentials}credentialSubject`, subject],
    [list, `${credentials}issuanceDate`, `"${issuanceDate}"^^<http://www.w3.org/2001/XMLSchema#dateTime>`],
    [list, `${credentials}issuer`, `<${issuer}>`],
    [subject, rdfType, `<${statusList}StatusList2021>`],
    [subject, `${statusList}encodedList`, `"${credentialSubject.encodedList}"`],
    [subject, `${statusList}statusPurpose`, `"${credentialSubject.statusPurpose}"`],
  ]
  return quads
    .map(([from, predicate, to]) => `${from} <${predicate}> ${to} .\n`)
    .toSorted()
    .join('')
}

const EmbeddedProof = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('EcdsaSecp256k1Signature2019'),
    proofPurpose: z.literal('assertionMethod'),
    jws: z.string().max(1_000),
  }),
  z.looseObject({
    type: z.literal('DataIntegrityProof'),
    proofPurpose: z.literal('assertionMethod'),
    // The Cloud Agent writes `cryptoSuite`, and has no ecdsa-jcs-2019.
    cryptosuite: z.enum(['eddsa-jcs-2022', 'ecdsa-jcs-2019']).optional(),
    cryptoSuite: z.literal('eddsa-jcs-2022').optional(),
    // 64 bytes in base58, which takes quadratic time to decode.
    proofValue: z.string().max(100),
  }),
])

/** The header of a detached JWS with unencoded payload (RFC 7797). */
const DetachedHeader = z.strictObject({
  alg: z.literal('ES256K'),
  b64: z.literal(false),
  crit: z.tuple([z.literal('b64')]),
})

/** Signs a list with a key of secp256k1, Ed25519 or P-256. `created` is an ISO 8601 instant. */
export function proveStatusList(list: StatusList2021, key: PrivateJwk, created: string): object {
  const common = { proofPurpose: 'assertionMethod', verificationMethod: toDataUrl(key), created }
  if (key.crv === 'P-256') {
    const options = { type: 'DataIntegrityProof', cryptosuite: 'ecdsa-jcs-2019', ...common }
    // The options have the context of the document while they are signed (vc-di-ecdsa §3.3.1).
    const signed = { '@context': list['@context'], ...options }
    return { ...signed, proofValue: toMultibase(sign(key, toHashes(signed, list))) }
  }
  if (key.crv !== 'secp256k1') {
    const proofValue = toMultibase(sign(key, utf8(canonicalize(list))))
    return { type: 'DataIntegrityProof', cryptoSuite: 'eddsa-jcs-2022', ...common, proofValue }
  }
  const header = toBase64url(JSON.stringify({ b64: false, crit: ['b64'], alg: 'ES256K' }))
  const signature = sign(key, utf8(`${header}.${toCanonicalQuads(list)}`))
  return { type: 'EcdsaSecp256k1Signature2019', ...common, jws: `${header}..${toBase64url(signature)}` }
}

/**
 * Whether one of `keys` created the embedded proof.
 *
 * @throws {z.ZodError | TypeError} when the proof is missing or unsupported, or the list has members that the
 * signature does not cover.
 */
export function isProvedBy({ proof, ...list }: JsonObject, keys: readonly PublicJwk[]): boolean {
  const parsed = EmbeddedProof.parse(proof)
  const { curve, signed, signature } =
    parsed.type === 'DataIntegrityProof' ? fromJcs(list, parsed) : fromQuads(list, parsed.jws)
  return keys.some((key) => key.crv === curve && signed.some((bytes) => verify(key, bytes, signature)))
}

/** A signature with the curve of its key and the inputs that may have been signed. */
type Signed = { curve: Curve; signed: Uint8Array[]; signature: Uint8Array }

/**
 * The specifications sign the hashes of proof options and document (vc-di-eddsa §3.3, vc-di-ecdsa §3.3). The
 * Cloud Agent signs the document, with Ed25519.
 */
function fromJcs(
  list: JsonObject,
  { proofValue, ...options }: { proofValue: string; cryptosuite?: string | undefined },
): Signed {
  const hashes = toHashes(options, list)
  const signature = fromMultibase(proofValue)
  return options.cryptosuite === 'ecdsa-jcs-2019'
    ? { curve: 'P-256', signed: [hashes], signature }
    : { curve: 'Ed25519', signed: [utf8(canonicalize(list)), hashes], signature }
}

function toHashes(options: object, document: object): Uint8Array {
  return concat(sha256(utf8(canonicalize(options))), sha256(utf8(canonicalize(document))))
}

function fromQuads(list: JsonObject, jws: string): Signed {
  const [header, payload, signature, ...more] = jws.split('.')
  if (header === undefined || payload !== '' || signature === undefined || more.length > 0)
    throw new TypeError('the proof is not a detached JWS')
  DetachedHeader.parse(JSON.parse(Buffer.from(fromBase64(header)).toString()))
  const quads = toCanonicalQuads(StatusList2021.parse(list))
  return { curve: 'secp256k1', signed: [utf8(`${header}.${quads}`)], signature: fromBase64(signature) }
}

/**
 * The public key as a data URL, as wallets expect it. It contains none of the characters that differ between
 * base64 and base64url.
 */
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
