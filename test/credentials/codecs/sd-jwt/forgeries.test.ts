/** Forged SD-JWTs are refused, unusual ones are accepted. */
import { describe, expect, test } from 'vitest'
import { type PresentationChecks, verifySdJwtPresentation } from '../_verify.ts'
import { issueSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { audience, checks, failureOf, nonce, now } from '../_people.ts'
import { content, forgeries, good, holderKey, present } from './_forged.ts'

const verify = (text: string, change: Partial<PresentationChecks> = {}) =>
  verifySdJwtPresentation(text, { resolve: checks.resolve, now, audience, nonce, ...change })

test('the good one passes', async () => {
  expect((await verify(good)).claims).toEqual(content.claims)
})

describe('a forgery is refused for what is wrong with it', () => {
  test.each(forgeries)('%s: %s', async (_name, failure, text, change) => {
    expect(await failureOf(() => verify(text, change))).toBe(failure)
  })
})

test('names that JavaScript knows are claims like any other', async () => {
  const claims = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1, "toString": {"__proto__": 2}}')
  const { claims: read } = await verify(present(issueSdJwt({ ...content, claims }), holderKey, { claims }))
  expect(new Map(Object.entries(read))).toEqual(new Map(Object.entries(claims)))
  expect(Object.keys(read['toString'] as object)).toEqual(['__proto__'])
  expect('admin' in read).toBe(false)
})
