/**
 * Every forgery once, every good token, and each check of the verification API by itself: what becomes of
 * each. Bundled and run with mutants in it by `mutation.slow.test.ts`.
 */
import { Problem } from '../../../src/foundation/problem.ts'
import { VerificationError } from '../../../src/credentials/codecs/verification-error.ts'
import { check } from '../../wallet/verification/_checks.ts'
import { jwtRows } from '../../wallet/verification/_jwt-rows.ts'
import { did } from '../../wallet/verification/_parameters.ts'
import { sdJwtRows } from '../../wallet/verification/_sd-jwt-rows.ts'
import { credential, edKey, type Payload, presentation, unchanged, vc, vp } from './_forge.ts'
import { credentials } from './_forged-credentials.ts'
import { presentations } from './_forged-presentations.ts'
import { requireVcType } from '../../../src/credentials/codecs/sd-jwt/issuer-jwt.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { checks, issuer, mallory, now, resolve, schemaId } from './_people.ts'
import { verifyHolderProof, verifyJwtVc, verifyJwtVp, verifySdJwtPresentation } from './_verify.ts'
import { forgeries as sdJwts, good, withHeader } from './sd-jwt/_forged.ts'

const { audience, nonce } = checks
const options = { resolve, now, audience, nonce }

const cases: [name: string, expected: string, verify: () => Promise<unknown>][] = [
  ...[credential, vc(unchanged, edKey)].map(
    (jwt, n) => [`good credential ${n}`, 'accepted', async () => verifyJwtVc(jwt, { resolve, now })] as const,
  ),
  ...[presentation, vp(unchanged)].map(
    (jwt, n) =>
      [
        `good presentation ${n}`,
        'accepted',
        () => verifyJwtVp(jwt, { ...checks, constraints: [{ schemaId, trustIssuers: [issuer.did] }] }),
      ] as const,
  ),
  ['good SD-JWT', 'accepted', () => verifySdJwtPresentation(good, options)],
  [
    'an SD-JWT that is not typed as a credential',
    'malformed',
    async () => requireVcType(decodeSdJwt(withHeader({ alg: 'EdDSA', typ: 'JWT' })).jws),
  ],
  ...credentials.map(
    ([name, failure, jwt, changes]) =>
      [`credential: ${name}`, failure, async () => verifyJwtVc(jwt, { resolve, now, ...changes })] as const,
  ),
  ...presentations.map(
    ([name, failure, jwt, changes]) =>
      [`presentation: ${name}`, failure, () => verifyJwtVp(jwt, { ...checks, ...changes })] as const,
  ),
  ...(
    [
      ['of the holder', 'accepted', () => {}],
      ['that names another holder', 'holder-binding', (p) => (p.vp.holder = mallory.did)],
      ['for another challenge', 'nonce', (p) => (p.nonce = 'another')],
    ] as [string, string, (payload: Payload) => unknown][]
  ).map(([what, expected, change]) => {
    const jwt = vp((p) => (delete p.vp.verifiableCredential, change(p)))
    return [`a holder's proof ${what}`, expected, () => verifyHolderProof(jwt, checks)] as const
  }),
  ...sdJwts.map(
    ([name, failure, text, changes]) =>
      [`SD-JWT: ${name}`, failure, () => verifySdJwtPresentation(text, { ...options, ...changes })] as const,
  ),
  ...(['AudienceCheck', 'IssuerIdentification'] as const).flatMap((name) =>
    ['no token', '~'].map(
      (text) => [`${name} of ${text}`, 'BadRequest', () => check(text, name, did(audience))] as const,
    ),
  ),
  ...[...jwtRows, ...sdJwtRows].map(
    ([name, what, expected, text, parameter]) =>
      [
        `${name} of ${what}`,
        expected ? 'yes' : 'no',
        async () => ((await check(text, name, parameter)) ? 'yes' : 'no'),
      ] as const,
  ),
] as never

/**
 * How many there are, and those that did not end as they should: all of them, or the first that is met after
 * the case `from`, and after all of those the ones before it. `at` is the last case that was run.
 */
export async function runCorpus({ stopAtFirst = false, from = 0 } = {}): Promise<{
  cases: number
  wrong: string[]
  at: number
}> {
  const wrong: string[] = []
  let at = from
  for (const [count, [name, expected, verify]] of [...cases.slice(from), ...cases.slice(0, from)].entries()) {
    if (stopAtFirst && wrong.length > 0) break
    at = (from + count) % cases.length
    const outcome = await verify().then(
      (said) => (typeof said === 'string' ? said : 'accepted'),
      (error: unknown) =>
        error instanceof VerificationError
          ? error.code
          : error instanceof Problem
            ? error.type
            : `an accident: ${String(error)}`,
    )
    if (outcome !== expected) wrong.push(`${name}: ${outcome} instead of ${expected}`)
  }
  return { cases: cases.length, wrong, at }
}
