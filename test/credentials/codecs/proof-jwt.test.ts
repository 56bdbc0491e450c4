/** The verification that all proofs share: each fault has its code, and nothing is asked of the signer before. */
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { signJws } from '../../../src/credentials/codecs/jws.ts'
import { PublicKey, requireSignature, verifyProofJwt } from '../../../src/credentials/codecs/proof-jwt.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'

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

test.each<[string, Parts, string, string]>([
  ['is of another type', { typ: 'JWT' }, 'malformed', "the header member 'typ' is not proof+jwt"],
  [
    'has a key that is not on its curve',
    { jwk: { ...toPublic(key), x: other.x } },
    'malformed',
    "'jwk' is not",
  ],
  ['has a private key', { jwk: key }, 'malformed', "'jwk.d' is private and must not be there"],
  ['has a claim of another form', { claims: { iat: 'now' } }, 'malformed', "the claim 'iat'"],
  ['has a time of another form', { claims: { nbf: 'now' } }, 'malformed', "the claim 'nbf'"],
  ['is for nobody', { claims: { aud: undefined } }, 'audience', 'its aud is not us'],
  ['is for another audience', { claims: { aud: 'them' } }, 'audience', 'its aud is not us'],
  ['has expired', { claims: { exp: now - 30 } }, 'expired', 'it has expired'],
  ['is too old', { claims: { iat: now - 331 } }, 'expired', 'its iat is too long ago'],
  ['has no time', { claims: { iat: undefined } }, 'expired', 'its iat is too long ago'],
  ['is not valid yet', { claims: { nbf: now + 31 } }, 'not-yet-valid', 'its nbf is in the future'],
  ['is of the future', { claims: { iat: now + 31 } }, 'not-yet-valid', 'its iat is in the future'],
])('a proof that %s is refused before its signature is verified', async (_, parts, code, reason) => {
  const { verified, signer } = verify(make(parts))
  await expect(verified).rejects.toMatchObject({ code, message: expect.stringContaining(reason) })
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
