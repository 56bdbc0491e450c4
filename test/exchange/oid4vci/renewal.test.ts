/** Refresh tokens of issuers: what binds them, their rotation, what a copy gets, and credentials issued anew. */
import { beforeAll, describe, expect, test } from 'vitest'
import { createRenewalLimit } from '../../../src/wallet/quotas.ts'
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { ask } from '../../support/ask.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { untilEnd } from '../../support/shared.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { faults } from './_schemas.ts'
import {
  addIssuer,
  codeOf,
  errorOf,
  offer,
  preAuthorizedGrant,
  prove,
  recordOf,
  redeemOffer,
} from './_wallet.ts'

const agent = await untilEnd(startAgent())
const setup = await addIssuer(agent, await agent.newTenant('issuer'))
const { tenant, issuerId } = setup
const renew = (renewal: { days: number; maxDays?: number } | null) =>
  tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId: 'Person' },
    body: { renewal },
  })
beforeAll(async () => void (await renew({ days: 90 })))

type Held = { key: PrivateJwk; refresh: string; recordId: string; access: string; nonce: string }

const sendForm = (form: Record<string, string>, key: PrivateJwk | undefined, nonce: string) =>
  post(setup, 'token', form, key && proofFor(setup, 'token', { key, nonce }))

/** A wallet whose token is bound to a key, and that has the credential. */
async function issued(): Promise<Held> {
  const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
  const { credentialOffer, recordId } = await offer(setup)
  const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) }
  const { body } = await sendForm(form, key, nonce)
  const held = { key, nonce, recordId, access: body.access_token, refresh: body.refresh_token }
  expect((await take(held)).status).toBe(200)
  return held
}

const refresh = (
  { key, refresh: token, nonce }: Held,
  more: Record<string, string> = {},
  by: PrivateJwk | undefined = key,
) => sendForm({ grant_type: 'refresh_token', refresh_token: token, ...more }, by, nonce)

async function take({ access: accessToken, key, nonce }: Held, proof?: string) {
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/credentials`, {
    body: { credential_configuration_id: 'Person', proofs: { jwt: [proof ?? (await prove(setup))] } },
    headers: {
      authorization: `DPoP ${accessToken}`,
      dpop: proofFor(setup, 'credentials', { accessToken, key, nonce }),
    },
  })
}

/** The wallet with the tokens of an answer. */
const after = (held: Held, { body }: Awaited<ReturnType<typeof refresh>>): Held => ({
  ...held,
  access: body.access_token,
  refresh: body.refresh_token,
})

/** Moves the times of a grant into the past. */
const change = (recordId: string, of: (renewal: any) => object) =>
  agent.agent.wallets.use(tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const { thid } = await tx
        .selectFrom('record')
        .select('thid')
        .where('id', '=', recordId)
        .executeTakeFirstOrThrow()
      const { renewal } = await tx
        .selectFrom('issuance_grant')
        .select('renewal')
        .where('id', '=', thid)
        .executeTakeFirstOrThrow()
      const next = JSON.stringify(of(JSON.parse(renewal!)))
      await tx.updateTable('issuance_grant').set({ renewal: next }).where('id', '=', thid).execute()
    }),
  )

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
  const indexes = await agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('status_entry').select('list_index').where('record_id', '=', held.recordId).execute(),
  )
  expect(new Set(indexes.map((row) => row.list_index)).size).toBe(2)
  // Revoking the record revokes both, and ends the renewal.
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: held.recordId } })
  const revoked = await agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('status_entry').select('revoked_at').where('record_id', '=', held.recordId).execute(),
  )
  expect(revoked.every((row) => row.revoked_at !== null)).toBe(true)
  expect(errorOf(await refresh(refreshed))).toEqual([400, 'invalid_grant'])
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
  const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
  const { credentialOffer, recordId } = await offer(setup)
  const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) }
  const { body } = await sendForm(form, key, nonce)
  const held = { key, nonce, recordId, access: body.access_token, refresh: body.refresh_token }
  const refreshed = after(held, await refresh(held))
  const holder = generateKey('Ed25519')
  const taken = await take(refreshed, await prove(setup, { key: holder }))
  const again = await take(refreshed, await prove(setup, { key: holder }))
  expect([taken.status, again.body.credentials]).toEqual([200, taken.body.credentials])
  expect((await recordOf(setup, recordId)).renewed).toBeUndefined()
  const next = after(held, await refresh(refreshed))
  expect((await take(next)).body.credentials).not.toEqual(taken.body.credentials)
  expect((await recordOf(setup, recordId)).renewed?.count).toBe(1)
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
    await renew(null)
    expect(errorOf(await refresh(refreshed))).toEqual([400, 'invalid_grant'])
    await renew({ days: 90 })
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

  test('is exchanged 24 times a day', async () => {
    const limit = createRenewalLimit(1)
    await limit('a grant')
    await expect(limit('a grant')).rejects.toMatchObject({ status: 429 })
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
