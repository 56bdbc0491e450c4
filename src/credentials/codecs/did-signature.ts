/**
 * Verifies the signature of a token with the keys of the DID in its `iss`. This is the only way in which keys
 * are selected.
 */
import { quote } from '../../foundation/faults.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import {
  canonicalDid,
  type DidDocument,
  keysHinted,
  type Resolve,
  type VerificationKey,
} from '../../did/document.ts'
import { fitsAlgorithm, isSignedBy, type Jws } from './jws.ts'
import { VerificationError } from './verification-error.ts'

/** Issuers sign with `assertionMethod` keys, holders with `authentication` keys. */
export type Signer = { did: string; role: 'issuer' | 'holder' }

const purposeOf = { issuer: 'assertionMethod', holder: 'authentication' } as const

/**
 * Verifies a signature and returns the key that made it: a key of the signer's document with the purpose of
 * the role. `kid` selects one of these keys, or is a hint (`keysHinted`).
 *
 * @throws {VerificationError} `issuer-unresolvable`, `holder-unresolvable`, `kid-not-bound`, `no-key`,
 * `algorithm`, `signature`
 * @throws {Problem} `error:ServiceUnavailable` when the DID cannot be resolved for now.
 */
export async function checkSignature(jws: Jws, signer: Signer, resolve: Resolve): Promise<VerificationKey> {
  const document = await resolveSigner(signer, resolve)
  const purpose = purposeOf[signer.role]
  const { kid, alg } = jws.header
  const keys = keysHinted(document, purpose, kid)
  const did = canonicalDid(signer.did)
  if (keys.length === 0 && kid !== undefined)
    throw new VerificationError('kid-not-bound', `The kid ${quote(kid)} names no ${purpose} key of ${did}`)
  if (keys.length === 0) throw new VerificationError('no-key', `${did} has no ${purpose} key`)
  if (!keys.some((key) => fitsAlgorithm(jws, key.publicKeyJwk))) {
    throw new VerificationError('algorithm', `No permitted ${purpose} key of ${did} has the algorithm ${alg}`)
  }
  const key = keys.find((candidate) => isSignedBy(jws, candidate.publicKeyJwk))
  if (!key)
    throw new VerificationError('signature', `No permitted ${purpose} key of ${did} made the signature`)
  return key
}

/**
 * Resolves the document of a signer. A document with another id counts as unresolvable. Temporary problems
 * and bugs are thrown unchanged.
 */
export async function resolveSigner({ did, role }: Signer, resolve: Resolve): Promise<DidDocument> {
  const failure = `${role}-unresolvable` as const
  let document: DidDocument
  try {
    document = await resolve(did)
  } catch (cause) {
    if (!(cause instanceof Problem) || isTemporary(cause)) throw cause
    const { message } = cause
    const named = message.includes(canonicalDid(did)) ? '' : `, ${canonicalDid(did)},`
    throw new VerificationError(failure, `The DID of the ${role}${named} could not be resolved: ${message}`, {
      cause,
    })
  }
  if (canonicalDid(document.id) === canonicalDid(did)) return document
  throw new VerificationError(
    failure,
    `The DID of the ${role}, ${canonicalDid(did)}, resolved to the document of ${canonicalDid(document.id)}`,
  )
}
