/** Refresh tokens of issuers: what binds them, their rotation, what a copy gets, and credentials issued anew. */
import { calculateJwkThumbprint } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { renewalsADay } from '../../../src/exchange/oid4vci/renewal.ts'
import { generateKey, toPublic, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { ask } from '../../support/ask.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { untilEnd } from '../../support/shared.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { after, type Held, renewalsOf, setRenewal } from './_renewal.ts'
import { faults } from './_schemas.ts'
import { addIssuer, errorOf, offer, type OfferOptions, prove, recordOf, redeemOffer } from './_wallet.ts'

const agent = await untilEnd(startAgent())
const setup = await addIssuer(agent, await agent.newTenant('issuer'))
const { tenant, issuerId } = setup
const { change, entries, redeemed, refresh, take } = renewalsOf(setup)
beforeAll(async () => void (await setRenewal(setup, { days: 90 })))

/** A wallet that has the credential. */
async function issued(options: OfferOptions = {}): Promise<Held> {
  const held = await redeemed(options)
  expect((await take(held)).status).toBe(200)
  return held
}

test('the metadata say that tokens are refreshed, and where they are revoked', async () => {
  const { body } = await ask(agent, `GET /.well-known/oauth-authorization-server/oid4vci/issuers/${issuerId}`)
  expect(faults('oauth_authorization_server_metadata', body)).toEqual([])
  expect(body.grant_types_supported).toContain('refresh_token')
  expect(body.revocation_endpoint).toBe(`${setup.identifier}/revoke`)
})

test('a wallet renews its credential with another key, and the old copy stays', async () => {
  const held = await issued()
  const first = await recordOf(setup, held.recordId)
  const refreshed = after(held, await refresh(held))
  expect(refreshed.refresh).not.toBe(held.refresh)
  const again = await take(refreshed)
  expect(again.status).toBe(200)
  const { credential } = again.body.credentials[0]
  expect(decodeJwtVc(credential).claims).toMatchObject({ name: 'Alice' })
  const second = await recordOf(setup, held.recordId)
  expect(second).toMatchObject({ protocolState: 'CredentialSent', renewed: { count: 1 } })
  expect(second.credential).not.toBe(first.credential)
  const indexes = await entries(held.recordId)
  expect(new Set(indexes.map((row) => row.list_index)).size).toBe(2)
  // Revoking the record revokes both, and ends the renewal.
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: held.recordId } })
  const revoked = await entries(held.recordId)
  expect(revoked.every((row) => row.revoked_at !== null)).toBe(true)
  expect(errorOf(await refresh(refreshed))).toEqual([400, 'invalid_grant'])
})

test('the record lists the copies of all issuances, and to revoke it revokes each of them', async () => {
  const held = await redeemed({ validityPeriod: 3_600 })
  const keys = [1, 2, 3, 4].map(() => generateKey('P-256'))
  const proofs = await Promise.all(keys.map((key) => prove(setup, { key })))
  expect((await take(held, ...proofs.slice(0, 2))).status).toBe(200)
  const refreshed = after(held, await refresh(held))
  expect((await take(refreshed, ...proofs.slice(2))).status).toBe(200)
  const { instances = [] } = await recordOf(setup, held.recordId)
  expect(instances.map(({ keyThumbprint }) => keyThumbprint)).toEqual(
    await Promise.all(keys.map((key) => calculateJwkThumbprint(toPublic(key)))),
  )
  for (const { issuedAt, expiresAt } of instances)
    expect(Math.abs(Date.parse(expiresAt!) - Date.parse(issuedAt) - 3_600_000)).toBeLessThan(2_000)
  const stored = await entries(held.recordId)
  const indexesOf = (all: number[]) => all.toSorted((one, other) => one - other)
  expect(indexesOf(stored.map((entry) => entry.list_index))).toEqual(
    indexesOf(instances.map(({ statusListIndex }) => statusListIndex)),
  )
  const revoke = () =>
    tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: held.recordId } })
  await revoke()
  const revoked = await entries(held.recordId)
  expect(revoked.map((entry) => entry.revoked_at !== null)).toEqual([true, true, true, true])
  await revoke()
  expect(await entries(held.recordId)).toEqual(revoked)
})

test('the record lists the 100 newest copies', async () => {
  let held = await redeemed()
  for (let round = 0; round < 11; round++) {
    if (round > 0) held = after(held, await refresh(held))
    const proofs = await Promise.all(Array.from({ length: 10 }, () => prove(setup)))
    expect((await take(held, ...proofs)).status).toBe(200)
  }
  const { instances = [], credential: _credential } = await recordOf(setup, held.recordId)
  const all = await entries(held.recordId)
  expect([instances.length, all.length]).toEqual([100, 110])
  const list = await tenant.call('GET /issue-credentials/records', { query: { limit: 1 } })
  expect(list.contents[0]).not.toHaveProperty('instances')
})

test('the same request again gets the same credential, and a nonce is used once', async () => {
  const held = await issued()
  const refreshed = after(held, await refresh(held))
  const key = generateKey('Ed25519')
  const [one, two] = [
    await take(refreshed, await prove(setup, { key })),
    await take(refreshed, await prove(setup, { key })),
  ]
  expect(two.body.credentials).toEqual(one.body.credentials)
  expect((await recordOf(setup, held.recordId)).renewed?.count).toBe(1)
  expect(errorOf(await take(refreshed))).toEqual([400, 'credential_request_denied'])
})

test('before the credential is taken: the first issuance is no renewal, and is repeated for the same key', async () => {
  const held = await redeemed()
  const refreshed = after(held, await refresh(held))
  const holder = generateKey('Ed25519')
  const taken = await take(refreshed, await prove(setup, { key: holder }))
  const again = await take(refreshed, await prove(setup, { key: holder }))
  expect([taken.status, again.body.credentials]).toEqual([200, taken.body.credentials])
  expect((await recordOf(setup, held.recordId)).renewed).toBeUndefined()
  const next = after(held, await refresh(refreshed))
  expect((await take(next)).body.credentials).not.toEqual(taken.body.credentials)
  expect((await recordOf(setup, held.recordId)).renewed?.count).toBe(1)
})

test('a wallet without a key gets no refresh token', async () => {
  const { credentialOffer } = await offer(setup)
  expect((await redeemOffer(setup, credentialOffer)).body.refresh_token).toBeUndefined()
})

describe('a refresh token', () => {
  test('without its key gets nothing, and ends nothing', async () => {
    const held = await issued()
    expect(errorOf(await refresh(held, {}, generateKey('P-256')))).toEqual([400, 'invalid_grant'])
    const bare = await post(setup, 'token', { grant_type: 'refresh_token', refresh_token: held.refresh })
    expect(errorOf(bare)).toEqual([400, 'invalid_grant'])
    expect((await refresh(held)).status).toBe(200)
  })

  test('whose answer was lost gets the same answer for a minute', async () => {
    const held = await issued()
    const [one, two] = [await refresh(held), await refresh(held)]
    expect(two.body).toMatchObject({
      access_token: one.body.access_token,
      refresh_token: one.body.refresh_token,
    })
    expect((await refresh(after(held, two))).status).toBe(200)
  })

  test('that comes again later with its key ends the grant, and the record says so', async () => {
    const held = await issued()
    const refreshed = after(held, await refresh(held))
    await change(held.recordId, (renewal) => ({ ...renewal, repeatUntilMs: 1 }))
    expect(errorOf(await refresh(held, {}, generateKey('P-256')))).toEqual([400, 'invalid_grant'])
    expect((await recordOf(setup, held.recordId)).metaLastFailure).toBeUndefined()
    expect(errorOf(await refresh(held))).toEqual([400, 'invalid_grant'])
    expect((await recordOf(setup, held.recordId)).metaLastFailure?.detail).toContain('used twice')
    expect(errorOf(await refresh(refreshed))).toEqual([400, 'invalid_grant'])
    expect((await take(refreshed)).status).toBe(401)
  })

  test('ends without a use, at last, and with the configuration', async () => {
    const held = await issued()
    await change(held.recordId, (renewal) => ({ ...renewal, endsMs: 1 }))
    expect(errorOf(await refresh(held))).toEqual([400, 'invalid_grant'])
    const other = await issued()
    await change(other.recordId, (renewal) => ({ ...renewal, lastMs: Date.now() + 60_000 }))
    const refreshed = after(other, await refresh(other))
    await change(other.recordId, ({ endsMs, ...renewal }) => {
      expect(endsMs).toBeLessThan(Date.now() + 61_000)
      return { ...renewal, endsMs }
    })
    await setRenewal(setup, null)
    expect(errorOf(await refresh(refreshed))).toEqual([400, 'invalid_grant'])
    await setRenewal(setup, { days: 90 })
  })

  test('is for what was granted, or a part of it', async () => {
    const held = await issued()
    expect(errorOf(await refresh(held, { scope: 'Person Other' }))).toEqual([400, 'invalid_scope'])
    expect((await refresh(held, { scope: 'Person' })).status).toBe(200)
  })

  test('is not of another issuer', async () => {
    const held = await issued()
    const other = await addIssuer(agent, tenant)
    const nonce = await newDpopNonce(other)
    const form = { grant_type: 'refresh_token', refresh_token: held.refresh }
    const dpop = proofFor(other, 'token', { key: held.key, nonce })
    expect(errorOf(await post(other, 'token', form, dpop))).toEqual([400, 'invalid_grant'])
  })

  test('is a digest in the wallet', async () => {
    const held = await issued()
    const { refresh: next } = after(held, await refresh(held))
    const rows = await agent.agent.wallets.use(tenant.walletId, async ({ db }) => [
      ...(await db.selectFrom('issuance_grant').selectAll().execute()),
      ...(await db.selectFrom('issuance_token').selectAll().execute()),
    ])
    for (const secret of [held.refresh, next]) expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test.each([
    ['of 30 days', undefined, 24],
    ['of an hour', 3_600, 36],
  ])('of a credential %s is exchanged as often a day as it needs', async (_name, validityPeriod, count) => {
    let held = await issued({ ...(validityPeriod !== undefined && { validityPeriod }) })
    for (let times = 0; times < count; times++) {
      const reply = await refresh(held)
      expect(reply.status, `${times} times`).toBe(200)
      held = after(held, reply)
    }
    const { status, headers } = await refresh(held)
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(80_000)
  })

  test('of several credentials is exchanged for each of them, and never more than once a minute', async () => {
    const [env, day] = [{ config: { CREDENTIAL_SD_JWT_EXPIRY: 86_400 } }, 86_400]
    const count = (...periods: (number | undefined)[]) =>
      renewalsADay(
        { env },
        periods.map((validityPeriod) => ({ validityPeriod })),
      )
    expect([count(undefined), count(day / 48, 3_600), count(1)]).toEqual([24, 72 + 36, 1_440])
  })
})

test('the tenant ends the renewal alone, and the wallet is told so', async () => {
  const held = await issued()
  const refreshed = after(held, await refresh(held))
  const path = { id: held.recordId }
  const end = () =>
    tenant.call('PATCH /credential-status/revoke-credential/{id}', { path, query: { renewalOnly: 'true' } })
  await end()
  await end()
  const { body, status } = await refresh(refreshed)
  expect([status, body.error]).toEqual([400, 'invalid_grant'])
  expect(body.error_description).toContain('was ended by the issuer; the credential stays')
  // Whoever has no key is not told.
  const stranger = await refresh(refreshed, {}, generateKey('P-256'))
  expect(stranger.body.error_description).toContain('bound to another DPoP key')
  expect((await take(refreshed)).status).toBe(401)
  expect((await entries(held.recordId)).map((entry) => entry.revoked_at)).toEqual([null])
  expect(await recordOf(setup, held.recordId)).not.toHaveProperty('revoked')
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path })
  expect(await recordOf(setup, held.recordId)).toMatchObject({ revoked: true })
  const { recordId: id } = await offer(setup)
  const refused = tenant.call('PATCH /credential-status/revoke-credential/{id}', {
    path: { id },
    query: { renewalOnly: 'true' },
  })
  await expect(refused).rejects.toThrow('no refresh token that could be ended')
})

test('a grant ends with the last of its credentials that is revoked', async () => {
  const offered = await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: {
      credentials: ['Alice', 'Bob'].map((name) => ({
        credentialConfigurationId: 'Person',
        issuingDID: setup.issuingDID,
        claims: { name },
      })),
    },
  })
  const takeNamed = (of: Held, identifier: string) => take({ ...of, identifier })
  const [one, other] = offered.records.map(({ recordId }) => recordId) as [string, string]
  let held = await redeemed({}, offered)
  for (const id of [one, other]) expect((await takeNamed(held, id)).status).toBe(200)
  const revoke = (id: string) =>
    tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
  held = after(held, await refresh(held))
  await revoke(one)
  expect((await takeNamed(held, one)).body.error).toBe('credential_request_denied')
  expect((await takeNamed(held, other)).status).toBe(200)
  held = after(held, await refresh(held))
  await revoke(other)
  expect((await takeNamed(held, other)).status).toBe(401)
  const { body } = await refresh(held)
  expect(body).toMatchObject({
    error: 'invalid_grant',
    error_description: expect.stringContaining('that the issuer has revoked'),
  })
})

describe('revocation', () => {
  const revoke = (token: string, key: PrivateJwk, nonce: string) => {
    const dpop = proofFor(setup, 'revoke', { key, nonce })
    const body = new URLSearchParams({ token }).toString()
    const type = 'application/x-www-form-urlencoded'
    return ask(agent, `POST /oid4vci/issuers/${issuerId}/revoke`, { body, type, headers: { dpop } })
  }

  test('of a refresh token ends its access tokens too, and needs its key', async () => {
    const held = await issued()
    const refreshed = after(held, await refresh(held))
    expect((await revoke(refreshed.refresh, generateKey('P-256'), held.nonce)).status).toBe(400)
    expect((await revoke('unknown', held.key, held.nonce)).status).toBe(200)
    expect((await revoke(refreshed.refresh, held.key, held.nonce)).status).toBe(200)
    expect(errorOf(await refresh(refreshed))).toEqual([400, 'invalid_grant'])
    expect((await take(refreshed)).status).toBe(401)
  })

  test('of an access token leaves the refresh token', async () => {
    const held = await issued()
    const refreshed = after(held, await refresh(held))
    expect((await revoke(refreshed.access, held.key, held.nonce)).status).toBe(200)
    expect((await take(refreshed)).status).toBe(401)
    expect((await refresh(refreshed)).status).toBe(200)
  })
})
