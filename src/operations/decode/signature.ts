/**
 * Verifies the signature of a JWT where the key is in the text itself: in a DID that contains its document,
 * or in the header.
 */
import type { JsonObject } from '../../foundation/json.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { checkSignature } from '../../credentials/codecs/did-signature.ts'
import { decodeHeader, decodeJws, isSignedBy, type Jws } from '../../credentials/codecs/jws.ts'
import { TokenKey } from '../../credentials/codecs/proof-jwt.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { type CoseSign1, verifySign1 } from '../../foundation/cose/index.ts'
import { type PublicJwk, toPublic } from '../../foundation/crypto/keys.ts'
import { canonicalDid, didOf } from '../../did/document.ts'
import { factsOf } from '../../definitions/did-names.ts'
import { certificateOf } from './certificate.ts'
import type { Check, Sources } from './decoded.ts'

/** Verifies a compact JWS. `did` is the signer that the payload names. */
export async function signatureOf(text: string, did: unknown, sources: Sources): Promise<Check> {
  const name = 'signature'
  let jws: Jws
  try {
    jws = decodeJws(text)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    const isUnknown = error.code === 'algorithm' || error.code === 'critical-header'
    return { name, result: isUnknown ? 'not verified' : 'failed', detail: error.message }
  }
  const header = decodeHeader(text)
  const signer = signerOf(did, header['kid'])
  if (signer !== undefined) return byDid(jws, signer, sources)
  if (header['jwk'] !== undefined)
    return byKey(jws, 'the key in its header (jwk), which may be of anyone', () =>
      toPublic(TokenKey.parse(header['jwk'])),
    )
  if (header['x5c'] !== undefined)
    return byKey(jws, 'the first certificate in its header (x5c), whose issuer is not checked', () =>
      keyOfCertificate(header['x5c']),
    )
  return { name, result: 'not verified', detail: 'the key is not in the token' }
}

/** Verifies a signature by a key from another part of the text. `which` names it. */
export function byKey(jws: Jws, which: string, find: () => PublicJwk): Check {
  try {
    const isSigned = isSignedBy(jws, find())
    return {
      name: 'signature',
      result: isSigned ? 'passed' : 'failed',
      detail: `${isSigned ? 'made' : 'not made'} by ${which}`,
    }
  } catch (error) {
    return { name: 'signature', result: 'not verified', detail: `cannot read ${which}: ${reasonOf(error)}` }
  }
}

/** Verifies a COSE_Sign1 by the key of the first certificate. `x5c` is in base64. */
export function signatureByCertificate(sign1: CoseSign1, x5c: readonly string[] | undefined): Check {
  const name = 'signature'
  if (!x5c) return { name, result: 'not verified', detail: 'there is no certificate in x5chain' }
  const which = 'the key of the first certificate in x5chain, whose issuer is not checked'
  try {
    const isMade = verifySign1(sign1, certificateOf(x5c[0]!).publicKey)
    return {
      name,
      result: isMade ? 'passed' : 'failed',
      detail: `${isMade ? 'made' : 'not made'} by ${which}`,
    }
  } catch (error) {
    return { name, result: 'not verified', detail: `cannot read ${which}: ${reasonOf(error)}` }
  }
}

function signerOf(did: unknown, kid: unknown): string | undefined {
  if (typeof did === 'string' && did.startsWith('did:')) return did
  return typeof kid === 'string' && kid.startsWith('did:') ? didOf(kid) : undefined
}

/** Issuers sign with assertion keys, holders and verifiers with authentication keys. A token may be of either. */
async function byDid(jws: Jws, did: string, sources: Sources): Promise<Check> {
  const name = 'signature'
  const failures: VerificationError[] = []
  for (const role of ['issuer', 'holder'] as const) {
    try {
      const { id } = await checkSignature(jws, { did, role }, sources.resolver.document)
      return {
        name,
        result: 'passed',
        detail: `made by the key ${canonicalDid(did)}${id.slice(id.indexOf('#'))}`,
      }
    } catch (error) {
      if (error instanceof Problem && isTemporary(error))
        return { name, result: 'not verified', detail: reasonOf(error) }
      if (!(error instanceof VerificationError)) throw error
      failures.push(error)
    }
  }
  const [first] = failures as [VerificationError]
  if (first.code !== 'issuer-unresolvable') return { name, result: 'failed', detail: first.message }
  return { name, result: 'not verified', detail: whyUnresolved(did, sources, first.message) }
}

/** Why a DID has no document here. `message` is the reason of the resolver. */
export function whyUnresolved(did: string, { online }: Pick<Sources, 'online'>, message: string): string {
  const { kind, forms } = factsOf(did) ?? {}
  const method = did.split(':', 2).join(':')
  if (kind === 'ledger' && forms?.exec(did)?.[1] === did && !online)
    return `the short form of ${method} needs a ledger: --online asks the daemon`
  if (kind === 'fetched' && !online) return `${method} needs --online`
  return message
}

function keyOfCertificate(x5c: unknown): PublicJwk {
  const [first] = Array.isArray(x5c) ? (x5c as unknown[]) : []
  if (typeof first !== 'string') throw new TypeError('it is not an array of texts')
  return certificateOf(first).publicKey.export({ format: 'jwk' }) as PublicJwk
}

/** Facts of a header for people. */
export function headerFacts(header: JsonObject): { algorithm: string | undefined; key: string | undefined } {
  const { alg, kid } = header
  return {
    algorithm: typeof alg === 'string' ? alg : undefined,
    key: typeof kid === 'string' ? kid : undefined,
  }
}
