/** The verification that all proofs share: each fault has its code, and nothing is asked of the signer before. */
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { signJws } from '../../src/credentials/jws.ts'
import { PublicKey, requireSignature, verifyProofJwt } from '../../src/credentials/proof-jwt.ts'
import { generateKey, toPublic } from '../../src/crypto/keys.ts'

const now = 1_700_000_000
const key = generateKey('P-256')
const other = generateKey('P-256')

type Parts = { typ?: string; jwk?: object; by?: typeof key; claims?: object }

const make = ({ typ = 'proof+jwt', jwk = toPublic(key), by = key, claims }: Parts = {}) =>
  signJws({ typ, parameters: { jwk } }, { aud: 'us', iat: now, ...claims }, by)

function verify(text: string) {
  const signer = vi.fn(({ header: { jwk }, jws }) => requireSignature(jws, jwk, 'is not signed'))
  const verified = verifyProofJwt(text, {
    typ: 'proof+jwt',
    header: z.looseObject({ jwk: PublicKey }),
    claims: z.looseObject({ iat: z.number().optional() }),
    audience: 'us',
    clock: { now, leewaySeconds: 30 },
    maxAgeSeconds: 300,
    signer,
    refuse: (reason, cause) => Object.assign(new Error(reason), { code: cause.code }),
  })
  return { verified, signer }
}

test.each([
  ['as it should be', {}],
  ['with its media type in full', { typ: 'application/proof+jwt' }],
  ['for us alone, in an array', { claims: { aud: ['us'] } }],
  ['at the bounds of its times', { claims: { exp: now - 29, nbf: now + 30, iat: now - 330 } }],
] satisfies [string, Parts][])('a proof %s is accepted', async (_, parts) => {
  const { signer, claims } = await verify(make(parts)).verified
  expect([signer, claims.iat]).toEqual([toPublic(key), expect.any(Number)])
})

test.each([
  ['is of another type', make({ typ: 'JWT' }), 'malformed'],
  ['has a key that is not on its curve', make({ jwk: { ...toPublic(key), x: other.x } }), 'malformed'],
  ['has a private key', make({ jwk: key }), 'malformed'],
  ['has a claim of another form', make({ claims: { iat: 'now' } }), 'malformed'],
  ['has a time of another form', make({ claims: { nbf: 'now' } }), 'malformed'],
  ['is for nobody', make({ claims: { aud: undefined } }), 'audience'],
  ['is for another audience', make({ claims: { aud: 'them' } }), 'audience'],
  ['has expired', make({ claims: { exp: now - 30 } }), 'expired'],
  ['is too old', make({ claims: { iat: now - 331 } }), 'expired'],
  ['has no time', make({ claims: { iat: undefined } }), 'expired'],
  ['is not valid yet', make({ claims: { nbf: now + 31 } }), 'not-yet-valid'],
  ['is of the future', make({ claims: { iat: now + 31 } }), 'not-yet-valid'],
])('a proof that %s is refused before its signature is verified', async (_, text, code) => {
  const { verified, signer } = verify(text)
  await expect(verified).rejects.toMatchObject({ code })
  expect(signer).not.toHaveBeenCalled()
})

test('a proof that another key signed is refused, and other errors of the signer are passed on', async () => {
  await expect(verify(make({ by: other })).verified).rejects.toMatchObject({ code: 'signature' })
  const act = verifyProofJwt(make(), {
    typ: 'proof+jwt',
    claims: z.looseObject({}),
    clock: { now, leewaySeconds: 0 },
    signer: () => Promise.reject(new RangeError('away')),
    refuse: (_, cause) => cause,
  })
  await expect(act).rejects.toThrow(RangeError)
})
