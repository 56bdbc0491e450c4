/** The signature of a token against the DID in its `iss`: the one way a key is chosen here (wire.md 5.3, pitfalls 15 and 16; threats C4). */
import { isTemporary, Problem } from '../base/problem.ts'
import {
  canonicalDid,
  type DidDocument,
  hasMethod,
  keysFor,
  keysMatching,
  type Purpose,
  type Resolve,
} from '../did/document.ts'
import type { VerificationKey } from '../did/document.ts'
import { fitsAlgorithm, isSignedBy, type Jws } from './jws.ts'
import { VerificationError } from './verification-error.ts'

/** Who signs, and with which keys of its document: issuers assert, holders authenticate. */
export type Signer = { did: string; role: 'issuer' | 'holder' }

const purposeOf = { issuer: 'assertionMethod', holder: 'authentication' } as const

/**
 * Returns the key that signed: a key of the signer's document with the purpose of its role. `kid` selects one of them. A DID URL of the signer whose
 * fragment the document does not have selects all of them.
 *
 * @throws {VerificationError} `issuer-unresolvable`, `holder-unresolvable`, `kid-not-bound`, `no-key`, `algorithm`, `signature`
 * @throws {Problem} `error:ServiceUnavailable` when the DID cannot be resolved for now, which says nothing of the token.
 */
export async function checkSignature(jws: Jws, signer: Signer, resolve: Resolve): Promise<VerificationKey> {
  const document = await resolveSigner(signer, resolve)
  const purpose = purposeOf[signer.role]
  const { kid, alg } = jws.header
  const keys = keysNamed(document, purpose, kid)
  const named = canonicalDid(signer.did)
  if (keys.length === 0 && kid !== undefined)
    throw new VerificationError('kid-not-bound', `The kid names no ${purpose} key of ${named}`)
  if (keys.length === 0) throw new VerificationError('no-key', `${named} has no ${purpose} key`)
  if (!keys.some((key) => fitsAlgorithm(jws, key.publicKeyJwk))) {
    throw new VerificationError(
      'algorithm',
      `No ${purpose} key of ${named} that the token may be signed with signs ${alg}`,
    )
  }
  const key = keys.find((candidate) => isSignedBy(jws, candidate.publicKeyJwk))
  if (!key)
    throw new VerificationError(
      'signature',
      `The signature was not made by a key that ${named} allows for ${purpose}`,
    )
  return key
}

/**
 * Real wallets write the DID URL of a key that the document does not show: SDK 6.1 signs with its authentication key and names `#master0`. Another
 * DID, or a method of the document with another purpose, selects nothing.
 */
function keysNamed(
  document: DidDocument,
  purpose: Purpose,
  kid: string | undefined,
): readonly VerificationKey[] {
  const keys = keysMatching(document, purpose, kid)
  if (keys.length > 0 || kid === undefined) return keys
  const [did, fragment, ...more] = kid.split('#')
  const isUnknown =
    fragment &&
    more.length === 0 &&
    canonicalDid(did!) === canonicalDid(document.id) &&
    !hasMethod(document, fragment)
  return isUnknown ? keysFor(document, purpose) : []
}

/**
 * Returns the document of a signer. A resolver that answers with the document of somebody else has not resolved the DID. One that fails for a
 * reason of its own, or for now, has not said that it cannot be.
 */
export async function resolveSigner({ did, role }: Signer, resolve: Resolve): Promise<DidDocument> {
  const failure = `${role}-unresolvable` as const
  let document: DidDocument
  try {
    document = await resolve(did)
  } catch (cause) {
    if (!(cause instanceof Problem) || isTemporary(cause)) throw cause
    throw new VerificationError(
      failure,
      `The DID of the ${role}, ${canonicalDid(did)}, could not be resolved: ${cause.message}`,
      { cause },
    )
  }
  if (canonicalDid(document.id) === canonicalDid(did)) return document
  throw new VerificationError(
    failure,
    `The DID of the ${role}, ${canonicalDid(did)}, resolved to the document of ${canonicalDid(document.id)}`,
  )
}
