/**
 * Tokens that must not pass, each refused with the right code. Every forgery differs from a good token in
 * one respect, so that a check that is missing lets one of them through.
 */
import { describe, expect, test } from 'vitest'
import { createJwtVp } from '../../../src/credentials/codecs/jwt-vp.ts'
import { verifyJwtVc, verifyJwtVp } from './_verify.ts'
import { failures } from '../../../src/credentials/codecs/verification-error.ts'
import { credential, edKey, presentation, shown, unchanged, vc, vp, withSignature } from './_forge.ts'
import { credentials } from './_forged-credentials.ts'
import { presentations } from './_forged-presentations.ts'
import { checks, failureOf, issuer, now, resolve, schemaId } from './_people.ts'
import { forgeries as sdJwts } from './sd-jwt/_forged.ts'

describe('a credential is refused', () => {
  test('unless it is the one that the forgeries are made from', async () => {
    for (const good of [
      credential,
      vc(unchanged),
      vc(unchanged, edKey),
      withSignature((signature) => signature),
    ])
      await verifyJwtVc(good, { resolve, now })
  })

  test.each(credentials)('%s: %s', async (_, failure, jwt, changes) => {
    expect(await failureOf(() => verifyJwtVc(jwt, { resolve, now, ...changes }))).toBe(failure)
  })
})

describe('a presentation is refused', () => {
  test('unless it is the one that the forgeries are made from', async () => {
    for (const good of [presentation, vp(unchanged)])
      await verifyJwtVp(good, { ...checks, constraints: [{ schemaId, trustIssuers: [issuer.did] }] })
  })

  test.each(presentations)('%s: %s', async (_, failure, jwt, changes) => {
    expect(await failureOf(() => verifyJwtVp(jwt, { ...checks, ...changes }))).toBe(failure)
  })

  test.each(credentials.filter(([, , , changes]) => changes === undefined))(
    'with a credential, %s: %s',
    async (_, failure, jwt) => {
      const given = failure === 'too-large' ? ['too-large'] : [failure, 'holder-binding']
      expect(given).toContain(
        await failureOf(() => verifyJwtVp(createJwtVp({ ...shown, credentials: [jwt] }), checks)),
      )
    },
  )
})

test('every failure there is has a forgery that meets it, and says what it means', () => {
  expect(new Set([...credentials, ...presentations, ...sdJwts].map(([, failure]) => failure))).toEqual(
    // Documents alone have digests: see `formats/mdoc`.
    new Set(Object.keys(failures).filter((failure) => failure !== 'digests')),
  )
  for (const meaning of Object.values(failures)) expect(meaning).toMatch(/^[A-Z].+\.$/)
})
