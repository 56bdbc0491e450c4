/**
 * Presentations of an SD-JWT (RFC 9901 §4.3, §7.3): the holder discloses claims with a key binding, the
 * verifier checks both.
 */
import type { PrivateJwk } from '../../crypto/keys.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { signJws } from '../jws.ts'
import { checkAllSatisfied, checkOneSatisfied, type Constraint } from '../constraints.ts'
import { defaultLeewaySeconds } from '../validity.ts'
import { VerificationError } from '../verification-error.ts'
import { verifyDecoded, type VerificationOptions, type Verified } from '../verify.ts'
import { digestBy } from './disclosure.ts'
import { checkKeyBinding, readKeyBinding } from './key-binding.ts'
import { decodeSdJwt, registeredClaims, type DecodedSdJwt } from './sd-jwt.ts'

/** The input of `presentSdJwt`. */
export type SdJwtPresentationContent = {
  sdJwt: string
  /**
   * The names of the claims to disclose. A non-empty object as value names claims below; other values are
   * ignored.
   */
  claims: JsonObject
  /** The domain of the request. `nonce` is its challenge. */
  audience: string
  nonce: string
  /** The private key of `cnf`, required if the credential has a `cnf`. */
  holderKey?: PrivateJwk | undefined
  now: number
}

/**
 * Presents the named claims, with all claims below and above them.
 *
 * @throws {VerificationError} when the credential cannot be decoded
 * @throws {TypeError} when the holder key is missing
 */
export function presentSdJwt(content: SdJwtPresentationContent): string {
  const { sdJwt, claims, holderKey } = content
  const decoded = decodeSdJwt(sdJwt)
  const requested = decoded.disclosures.filter(({ path }) => isRequested(claims, path))
  const presented = discloseClaims(decoded, requested)
  if (!decoded.isBound) return presented
  if (!holderKey) throw new TypeError('the credential requires key binding, and the holder key is missing')
  return bindPresentation(presented, decoded, { ...content, holderKey })
}

/** The SD-JWT with some of its disclosures, without a key binding. */
export function discloseClaims(
  { sdJwt }: Pick<DecodedSdJwt, 'sdJwt'>,
  disclosed: DecodedSdJwt['disclosures'],
): string {
  const jwt = sdJwt.slice(0, sdJwt.indexOf('~'))
  return [jwt, ...disclosed.map(({ encoded }) => encoded), ''].join('~')
}

/** Adds a key binding to disclosed claims (RFC 9901 §4.3). */
export function bindPresentation(
  presented: string,
  { payload }: Pick<DecodedSdJwt, 'payload'>,
  binding: Pick<SdJwtPresentationContent, 'audience' | 'nonce' | 'now'> & { holderKey: PrivateJwk },
): string {
  const { audience, nonce, now, holderKey } = binding
  const claims = {
    iat: Math.floor(now),
    aud: audience,
    nonce,
    sd_hash: digestBy(payload['_sd_alg'])(presented),
  }
  return presented + signJws({ typ: 'kb+jwt' }, claims, holderKey)
}

/**
 * The path of the first requested claim that a credential does not have. Registered claims are always
 * disclosed.
 */
export function findMissing(sdJwt: string, requested: JsonObject): string | undefined {
  const disclosable = Object.entries(requested).filter(
    ([name]) => !(registeredClaims as readonly string[]).includes(name),
  )
  return findMissingIn(decodeSdJwt(sdJwt).claims, Object.fromEntries(disclosable), [])
}

/** Times are in epoch seconds. */
export type SdJwtPresentationChecks = VerificationOptions & {
  audience: string
  nonce: string
  /** The leeway for `iat` of the key binding. Default: `leewaySeconds`. */
  bindingLeewaySeconds?: number | undefined
  /** The requested claims, as in `SdJwtPresentationContent`. */
  claims?: JsonObject | undefined
  /** The lines of `proofs`. The credential must satisfy all. */
  constraints?: readonly Constraint[] | undefined
}

/**
 * Verifies a presentation: the credential, its key binding to this request, and the requested claims. A
 * credential without `cnf` needs no key binding; the Cloud Agent issues such credentials.
 *
 * @throws {VerificationError} for the first check that fails
 * @throws {Problem} `error:ServiceUnavailable` when a check is temporarily impossible
 */
export async function verifySdJwtPresentation(
  text: string,
  checks: SdJwtPresentationChecks,
): Promise<Verified<DecodedSdJwt>> {
  const decoded = decodeSdJwt(text)
  await checkBinding(decoded, checks)
  const missing = findMissingIn(decoded.claims, checks.claims ?? {}, [])
  if (missing !== undefined)
    throw new VerificationError('claim-missing', `The claim ${missing} is not disclosed`)
  const { vct, issuerDid } = decoded
  const { constraints = [] } = checks
  const presented = { schemas: vct === undefined ? [] : [vct], issuerDid }
  checkOneSatisfied(constraints, presented, 'The request')
  checkAllSatisfied(constraints, [presented])
  return verifyDecoded(decoded.jws, decoded, checks)
}

/** Checks that the key binding is for this request. */
async function checkBinding(
  credential: DecodedSdJwt,
  {
    audience,
    nonce,
    now,
    leewaySeconds,
    bindingLeewaySeconds = leewaySeconds ?? defaultLeewaySeconds,
    resolve,
  }: SdJwtPresentationChecks,
): Promise<void> {
  if (credential.isBound && credential.keyBinding === undefined)
    throw new VerificationError(
      'holder-binding',
      'The credential requires key binding, and the presentation has none',
    )
  if (credential.keyBinding === undefined) return
  // The checks that cost nothing come first: the signature may need the DID of a stranger.
  const { claims: binding } = readKeyBinding(credential.keyBinding)
  if (binding.aud !== audience)
    throw new VerificationError('audience', `The presentation has the audience [${binding.aud}]`)
  if (binding.nonce !== nonce)
    throw new VerificationError('nonce', 'The nonce of the presentation is not the challenge')
  if (!(binding.iat <= now + bindingLeewaySeconds))
    throw new VerificationError('not-yet-valid', 'The key binding is dated in the future')
  await checkKeyBinding(credential, resolve)
}

/** Whether a claim is requested, is below a requested claim, or contains one. */
function isRequested(requested: JsonObject, path: readonly string[]): boolean {
  let level: unknown = requested
  for (const [depth, name] of path.entries()) {
    // A name without names below it requests the whole claim.
    if (!isJsonObject(level) || (depth > 0 && Object.keys(level).length === 0)) return true
    if (!Object.hasOwn(level, name)) return false
    level = level[name]
  }
  return true
}

/** Array elements are not checked, because undisclosed elements leave no gap. */
function findMissingIn(claims: unknown, requested: JsonObject, path: string[]): string | undefined {
  if (Array.isArray(claims)) return undefined
  for (const [name, below] of Object.entries(requested)) {
    const memberPath = [...path, name]
    if (!isJsonObject(claims) || !Object.hasOwn(claims, name)) return memberPath.join('.')
    const missing = isJsonObject(below) ? findMissingIn(claims[name], below, memberPath) : undefined
    if (missing !== undefined) return missing
  }
  return undefined
}
