/**
 * The optional proof of a schema's authorship: a detached JWS (RFC 7515 with `b64` of RFC 7797) by an
 * assertion key of the author. The payload is the JCS form (RFC 8785) of type, name, version, author, schema,
 * and the proof's own members without the two that hold the signature.
 */
import * as z from 'zod'
import { fromBase64, toBase64url, toMultibase, utf8 } from '../../foundation/bytes.ts'
import { canonicalize } from '../../foundation/json.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { algorithmOf, type PrivateJwk, type PublicJwk, sign, verify } from '../../foundation/crypto/keys.ts'
import { canonicalDid, didOf, keysMatching, type Resolve } from '../../did/document.ts'
import type { JsonObject } from '../../foundation/json.ts'

export const proofType = 'JsonWebSignature2020'

export const Proof = z
  .object({
    type: z.string().max(100).describe('`JsonWebSignature2020`, with JCS as the canonical form.'),
    created: z.iso.datetime({ offset: true }),
    verificationMethod: z.string().max(60_200).describe('DID URL of an assertion key of the author.'),
    proofPurpose: z.string().max(100).describe('`assertionMethod`.'),
    proofValue: z.string().max(200).optional().describe('The signature of `jws` in multibase.'),
    domain: z.string().max(300).optional(),
    jws: z.string().max(1_000).optional().describe('JWS with detached payload.'),
  })
  .meta({ id: 'SchemaProof' })
export type Proof = z.output<typeof Proof>

/** The signed members of a schema record. */
export type Authored = { type: string; name: string; version: string; author: string; schema: JsonObject }

/** A key of the author with its DID URL, and the host of the signing agent. */
export type Signer = { verificationMethod: string; privateJwk: PrivateJwk; domain: string }

export function signSchema(authored: Authored, { verificationMethod, privateJwk, domain }: Signer): Proof {
  const options = {
    type: proofType,
    created: new Date().toISOString(),
    verificationMethod,
    proofPurpose: 'assertionMethod',
    domain,
  }
  const header = toBase64url(JSON.stringify({ alg: algorithmOf(privateJwk), b64: false, crit: ['b64'] }))
  const signature = sign(privateJwk, signingInput(header, authored, options))
  return { ...options, proofValue: toMultibase(signature), jws: `${header}..${toBase64url(signature)}` }
}

/**
 * Returns the fault of a proof, as "member: reason", or undefined when the proof is valid.
 *
 * @throws {Problem} `error:ServiceUnavailable` when the author's DID cannot be resolved for now.
 */
export async function findProofFault(
  authored: Authored,
  proof: Proof,
  resolve: Resolve,
): Promise<string | undefined> {
  if (proof.type !== proofType) return `type: must be ${proofType}`
  if (proof.proofPurpose !== 'assertionMethod') return 'proofPurpose: must be assertionMethod'
  const parts = readJws(proof.jws)
  if (!parts)
    return 'jws: must be a JWS with detached payload whose header has exactly alg, b64 (false) and crit (["b64"])'
  if (proof.proofValue !== undefined && proof.proofValue !== toMultibase(parts.signature))
    return 'proofValue: is not the signature in jws'
  if (canonicalDid(didOf(proof.verificationMethod)) !== canonicalDid(authored.author))
    return 'verificationMethod: must be a key of the author'
  const keys = await keysOf(authored.author, proof.verificationMethod, resolve)
  if (typeof keys === 'string') return `verificationMethod: ${keys}`
  const candidates = keys.filter((key) => hasAlgorithm(key, parts.alg))
  if (candidates.length === 0)
    return 'verificationMethod: is not an assertionMethod key of the author for the algorithm in jws'
  const { jws: _, proofValue: __, ...options } = proof
  const input = signingInput(parts.header, authored, options)
  return candidates.some((key) => verify(key, input, parts.signature))
    ? undefined
    : 'jws: the signature does not match the schema and the key'
}

async function keysOf(
  author: string,
  verificationMethod: string,
  resolve: Resolve,
): Promise<PublicJwk[] | string> {
  try {
    const document = await resolve(author)
    return keysMatching(document, 'assertionMethod', verificationMethod).map(
      ({ publicKeyJwk }) => publicKeyJwk,
    )
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    return `the author's DID could not be resolved: ${error.message}`
  }
}

function hasAlgorithm(key: PublicJwk, alg: string): boolean {
  try {
    return algorithmOf(key) === alg
  } catch {
    return false
  }
}

const Header = z.strictObject({ alg: z.string(), b64: z.literal(false), crit: z.tuple([z.literal('b64')]) })

function readJws(jws = ''): { header: string; alg: string; signature: Uint8Array } | undefined {
  const [, header, signature] = /^([\w-]+)\.\.([\w-]+)$/.exec(jws) ?? []
  try {
    const { alg } = Header.parse(JSON.parse(Buffer.from(header!, 'base64url').toString('utf8')))
    return { header: header!, alg, signature: fromBase64(signature!) }
  } catch {
    return undefined
  }
}

/** RFC 7797 §3: encoded header, full stop, payload. */
function signingInput(
  header: string,
  { type, name, version, author, schema }: Authored,
  options: Proof,
): Uint8Array {
  return utf8(`${header}.${canonicalize({ type, name, version, author, schema, proof: options })}`)
}
