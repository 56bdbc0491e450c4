/** Presentations of an SD-JWT: the holder chooses claims and binds what it shows to a request; the verifier checks both (RFC 9901 §4.3, §7.3). */
import type { PrivateJwk } from '../../crypto/keys.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { signJws } from '../jws.ts'
import { checkAllSatisfied, checkOneSatisfied, type Constraint } from '../constraints.ts'
import { defaultLeewaySeconds } from '../validity.ts'
import { VerificationError } from '../verification-error.ts'
import { digestBy } from './disclosure.ts'
import { checkKeyBinding } from './key-binding.ts'
import {
  decodeSdJwt,
  registeredClaims,
  verifyDecodedSdJwt,
  type DecodedSdJwt,
  type SdJwtChecks,
  type VerifiedSdJwt,
} from './sd-jwt.ts'

/** What a holder shows: the names of claims as an object whose values do not matter, unless they are objects that name claims below. */
export type SdJwtPresentationContent = {
  sdJwt: string
  claims: JsonObject
  /** The domain and the challenge of the request. */
  audience: string
  nonce: string
  /** The key that the credential is bound to; needed when it is bound to one. */
  holderKey?: PrivateJwk | undefined
  now: number
}

/**
 * Makes a presentation of the claims that are named, with all that is below them and what they are in.
 *
 * @throws {VerificationError} when the credential cannot be read
 * @throws {TypeError} when it is bound to a key and there is none
 */
export function presentSdJwt({
  sdJwt,
  claims,
  audience,
  nonce,
  holderKey,
  now,
}: SdJwtPresentationContent): string {
  const { sdJwt: whole, placed, holderKey: bound, payload: signed } = decodeSdJwt(sdJwt)
  const shown = placed.filter(({ path }) => isWanted(claims, path)).map(({ encoded }) => encoded)
  const presented = [whole.slice(0, whole.indexOf('~')), ...shown, ''].join('~')
  if (!bound) return presented
  if (!holderKey) throw new TypeError('the credential is bound to a key, which is needed to present it')
  const payload = {
    iat: Math.floor(now),
    aud: audience,
    nonce,
    sd_hash: digestBy(signed['_sd_alg'])(presented),
  }
  return presented + signJws({ typ: 'kb+jwt' }, payload, holderKey)
}

/** The first claim, by its path, that is named and that a credential does not have; its registered claims are shown always. */
export function findMissing(sdJwt: string, wanted: JsonObject): string | undefined {
  const hideable = Object.entries(wanted).filter(
    ([name]) => !(registeredClaims as readonly string[]).includes(name),
  )
  return missingIn(decodeSdJwt(sdJwt).claims, Object.fromEntries(hideable), [])
}

/** What is checked of a presentation; times are epoch seconds. */
export type SdJwtPresentationChecks = SdJwtChecks & {
  audience: string
  nonce: string
  /** The clock difference that a key binding may have; that of the credential unless given. */
  bindingLeewaySeconds?: number | undefined
  /** The names of the claims that were asked for, as in `SdJwtPresentationContent`. */
  claims?: JsonObject | undefined
  /** The lines of `proofs`: the credential satisfies all of them. */
  constraints?: readonly Constraint[] | undefined
}

/**
 * Verifies a presentation: the credential, its key binding to this request where it is bound to a key, and that it shows what was asked for.
 * A credential that is bound to no key may be shown by whoever has it; the real agent issues such (wire.md 4.5).
 *
 * @throws {VerificationError} for the first check that fails
 * @throws {Problem} `error:ServiceUnavailable` when a check cannot be made for now
 */
export async function verifySdJwtPresentation(
  text: string,
  checks: SdJwtPresentationChecks,
): Promise<VerifiedSdJwt> {
  const decoded = decodeSdJwt(text)
  checkAnswer(decoded, checks)
  const missing = missingIn(decoded.claims, checks.claims ?? {}, [])
  if (missing !== undefined) throw new VerificationError('claim-missing', `The claim ${missing} is not shown`)
  const { vct, issuerDid } = decoded
  const { constraints = [] } = checks
  const shown = { schemas: vct === undefined ? [] : [vct], issuerDid }
  checkOneSatisfied(constraints, shown, 'The request')
  checkAllSatisfied(constraints, [shown])
  return verifyDecodedSdJwt(decoded, checks)
}

/** The presentation answers this request, if the credential is bound to a key. */
function checkAnswer(
  credential: DecodedSdJwt,
  {
    audience,
    nonce,
    now,
    leewaySeconds,
    bindingLeewaySeconds = leewaySeconds ?? defaultLeewaySeconds,
  }: SdJwtPresentationChecks,
): void {
  if (credential.holderKey && credential.keyBinding === undefined)
    throw new VerificationError(
      'holder-binding',
      'The credential is bound to a key, and the presentation is not signed with it',
    )
  const binding = checkKeyBinding(credential)
  if (!binding) return
  if (binding.aud !== audience)
    throw new VerificationError('audience', `The presentation was made for [${binding.aud}]`)
  if (binding.nonce !== nonce)
    throw new VerificationError('nonce', 'The nonce of the presentation is not the challenge')
  if (!(binding.iat <= now + bindingLeewaySeconds))
    throw new VerificationError('not-yet-valid', 'The key binding was made in the future')
}

/** True when a claim is named, is in one that is named, or has one in it that is. */
function isWanted(wanted: JsonObject, path: readonly string[]): boolean {
  let level: unknown = wanted
  for (const [depth, name] of path.entries()) {
    // A name without names below it is the whole of the claim.
    if (!isJsonObject(level) || (depth > 0 && Object.keys(level).length === 0)) return true
    if (!Object.hasOwn(level, name)) return false
    level = level[name]
  }
  return true
}

/** Elements of an array are not counted: those that are not shown leave no gap. */
function missingIn(shown: unknown, wanted: JsonObject, path: string[]): string | undefined {
  if (Array.isArray(shown)) return undefined
  for (const [name, below] of Object.entries(wanted)) {
    const place = [...path, name]
    if (!isJsonObject(shown) || !Object.hasOwn(shown, name)) return place.join('.')
    const missing = isJsonObject(below) ? missingIn(shown[name], below, place) : undefined
    if (missing !== undefined) return missing
  }
  return undefined
}
