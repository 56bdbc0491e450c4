/**
 * Signed messages: JWS in general or flattened JSON serialization (RFC 7515 §7.2) with the algorithms of
 * DIDComm v2.1 (EdDSA, ES256, ES256K). The keys come from the signer's DID document.
 */
import { createPublicKey, verify as verifyBytes } from 'node:crypto'
import * as z from 'zod'
import { utf8 } from '../../foundation/bytes.ts'
import { MediaType } from '../../foundation/media-type.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { type PublicJwk, toPublic, verify } from '../../foundation/crypto/keys.ts'
import { didOf, type Resolve } from '../../did/document.ts'
import { decodeMember, forbidden, getKey, KeyId, readProtected } from './jose.ts'
import { refuse } from './message.ts'

/** Limit on the signatures of one message. */
const maxSignatures = 16

const curveOf = { EdDSA: 'Ed25519', ES256: 'P-256', ES256K: 'secp256k1' } as const

const JwsHeader = z.object({
  typ: MediaType('application/didcomm-signed+json').optional(),
  alg: z.enum(['EdDSA', 'ES256', 'ES256K']),
  kid: KeyId.optional(),
  ...forbidden,
})

const Signature = z.object({
  protected: z.string(),
  signature: z.string(),
  header: z.object({ kid: KeyId.optional() }).optional(),
})

const Jws = z.union([
  z.object({ payload: z.string(), signatures: z.array(Signature).min(1).max(maxSignatures) }),
  Signature.extend({ payload: z.string() }).transform(({ payload, ...signature }) => ({
    payload,
    signatures: [signature],
  })),
])

/** The signed bytes and the ids of the signing keys, all of one DID. */
export type VerifiedJws = { payload: Uint8Array; signerKids: string[] }

/** True for parsed JSON with the members of a JWS. */
export function isJws(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'payload' in value &&
    ('signatures' in value || 'signature' in value)
  )
}

/**
 * Verifies every signature of a JWS, given as parsed JSON. The keys must be authentication keys of their DID.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when a signature is wrong, or the DIDs of
 * the keys differ.
 */
export async function verifyJws(value: unknown, resolve: Resolve): Promise<VerifiedJws> {
  const parsed = Jws.safeParse(value)
  if (!parsed.success)
    refuse(`the signed message is not a JWS in JSON serialisation, ${reasonOf(parsed.error)}`)
  const { payload, signatures } = parsed.data
  const claims = signatures.map((signature) => readSignature(payload, signature))
  if (new Set(claims.map(({ kid }) => didOf(kid))).size !== 1) refuse('the message is signed by several DIDs')
  for (const claim of claims) {
    const publicJwk = await getKey(resolve, claim.kid, 'authentication')
    if (!isSigned(claim, publicJwk)) refuse(`the signature is not one of key ${claim.kid}`)
  }
  return { payload: decodeMember(payload, 'payload'), signerKids: claims.map(({ kid }) => kid) }
}

type Claim = { kid: string; alg: keyof typeof curveOf; data: Uint8Array; signature: Uint8Array }

function readSignature(payload: string, entry: z.infer<typeof Signature>): Claim {
  const header = readProtected(entry.protected, JwsHeader)
  const kid = header.kid ?? entry.header?.kid
  if (kid === undefined) refuse('a signature does not name its key, add the kid')
  if (entry.header?.kid !== undefined && entry.header.kid !== kid)
    refuse('the two headers of a signature name different keys')
  return {
    kid,
    alg: header.alg,
    data: utf8(`${entry.protected}.${payload}`),
    signature: decodeMember(entry.signature, 'signature'),
  }
}

function isSigned({ alg, data, signature }: Claim, publicJwk: PublicJwk): boolean {
  if (publicJwk.crv !== curveOf[alg]) return false
  if (alg !== 'ES256') return verify(publicJwk, data, signature)
  try {
    const key = createPublicKey({ key: toPublic(publicJwk), format: 'jwk' })
    return (
      signature.length === 64 && verifyBytes('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature)
    )
  } catch {
    return false
  }
}
