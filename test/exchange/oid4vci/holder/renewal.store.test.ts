/** The wallet renews credentials with the refresh token of their issuer. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { createClient } from '../../../../daemon/client/client.ts'
import { renewalQueueOf } from '../../../../src/exchange/issuance/renewal.ts'
import { rewriteRows } from '../../../support/rewrite-rows.ts'
import { startAgent, type TestAgent } from '../../../support/agent.ts'
import { refusal, until, type Tenant } from '../../../support/tenants.ts'
import { untilEnd } from '../../../support/shared.ts'
import { accept, acceptOffer, inState, receive, show, type Record } from './_holder.ts'
import { startFakeIssuer, type Answer, type Seen } from './_issuer.ts'
import { givesRefreshTokens, refresh, renewalOf, renewed } from './_refresh.ts'

const [agent, issuer] = await Promise.all([untilEnd(startAgent()), untilEnd(startFakeIssuer())])
const holder = await agent.newTenant('holder')
beforeEach(() => issuer.reset())

const textOf = ({ credential }: Record) => Buffer.from(credential!, 'base64url').toString()
const keyOf = (record: Record) => decodeSdJwt(textOf(record)).holderKey!.x

describe('by command', () => {
  test('without a refresh token there is nothing to renew with', async () => {
    const record = await acceptOffer(holder, issuer.offer())
    expect(renewalOf(record)).toEqual({ state: 'none', dueAt: expect.any(String) })
    expect(await refusal(refresh(holder, record.recordId))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('Ask the issuer for a new offer'),
    })
  })

  test.each([true, false])('tokens with DPoP: %s', async (isBound) => {
    const state = givesRefreshTokens(issuer, { isBound })
    const first = await acceptOffer(holder, issuer.offer())
    expect(renewalOf(first)).toMatchObject({ state: 'possible' })
    expect(JSON.stringify(first)).not.toContain('refresh-0')
    for (let count = 1; count <= 3; count++) {
      expect(renewalOf(await refresh(holder, first.recordId)).state).toBe('running')
      const next = await renewed(holder, first.recordId, count)
      expect(renewalOf(next)).toMatchObject({ state: 'possible', count })
      expect(next.protocolState).toBe('CredentialReceived')
    }
    const last = await show(holder, first.recordId)
    expect(keyOf(last)).not.toBe(keyOf(first))
    expect(state).toMatchObject({ current: 3, reused: 0 })
    expect(new Set(state.keys).size).toBe(1)
    // An earlier test may have left the notification of another credential.
    const told = () => issuer.at('notification').map(({ body }) => JSON.parse(body))
    const ours = () => told().filter(({ notification_id }) => notification_id !== 'n')
    await until(
      'the issuer is told',
      async () => ours(),
      (all) => all.length === 4,
    )
    expect(ours()).toEqual(
      [0, 1, 2, 3].map((n) => ({ notification_id: `n-${n}`, event: 'credential_accepted' })),
    )
  })

  test('with copies, each of another key', async () => {
    givesRefreshTokens(issuer)
    const { recordId } = await acceptOffer(holder, issuer.offer())
    await refresh(holder, recordId, 3)
    expect((await renewed(holder, recordId)).openid4vci!.copies).toBe(3)
    const [, request] = issuer.at('credential')
    expect(JSON.parse(request!.body).proofs.jwt).toHaveLength(3)
  })

  test('changed claims are told', async () => {
    givesRefreshTokens(issuer, { changes: (n) => ({ name: n === 0 ? 'Alice' : 'Alice Miller' }) })
    const { recordId } = await acceptOffer(holder, issuer.offer())
    await refresh(holder, recordId)
    const record = await renewed(holder, recordId)
    expect(record.claims).toMatchObject({ name: 'Alice Miller' })
    expect(renewalOf(record).changes).toEqual([{ name: 'name', before: 'Alice', after: 'Alice Miller' }])
    await refresh(holder, recordId)
    expect(renewalOf(await renewed(holder, recordId, 2)).changes).toBeUndefined()
  })

  test('two credentials of one offer share the refresh token', async () => {
    const state = givesRefreshTokens(issuer)
    const offer = issuer.offer('Licence', { credential_configuration_ids: ['Licence', 'Person'] })
    const { recordId, thid } = await receive(holder, offer)
    await accept(holder, recordId)
    const { contents } = await holder.call('GET /issue-credentials/records', { query: { thid } })
    expect(contents).toHaveLength(2)
    for (const each of contents) await inState(holder, each.recordId, 'CredentialReceived')
    for (let count = 1; count <= 2; count++)
      for (const each of contents) {
        await refresh(holder, each.recordId)
        expect(renewalOf(await renewed(holder, each.recordId, count)).state).toBe('possible')
      }
    expect(state).toMatchObject({ current: 4, reused: 0 })
  })
})

test('a refused refresh token: the credential stays, and a person is needed', async () => {
  const state = givesRefreshTokens(issuer)
  const first = await acceptOffer(holder, issuer.offer())
  state.isRevoked = true
  await refresh(holder, first.recordId)
  const record = await renewed(holder, first.recordId)
  expect(record.protocolState).toBe('CredentialReceived')
  expect(record.credential).toBe(first.credential)
  expect(renewalOf(record)).toMatchObject({
    state: 'needs-you',
    reason: expect.stringContaining('invalid_grant'),
  })
  expect((await refusal(refresh(holder, first.recordId))).status).toBe(409)
})

test('what the issuer has ended needs a person for each credential of the offer', async () => {
  const state = givesRefreshTokens(issuer)
  const offer = issuer.offer('Licence', { credential_configuration_ids: ['Licence', 'Person'] })
  const { recordId, thid } = await receive(holder, offer)
  await accept(holder, recordId)
  const { contents } = await holder.call('GET /issue-credentials/records', { query: { thid } })
  for (const each of contents) await inState(holder, each.recordId, 'CredentialReceived')
  state.isRevoked = true
  await refresh(holder, recordId)
  for (const each of contents) expect(renewalOf(await renewed(holder, each.recordId)).state).toBe('needs-you')
  expect(issuer.at('token')).toHaveLength(2)
})

test('a deferred renewal is asked for again, with the keys of its request', async () => {
  givesRefreshTokens(issuer)
  const first = await acceptOffer(holder, issuer.offer())
  const make = issuer.answerOf('credential')
  let asked: Seen | undefined
  issuer.on('credential', (seen) => {
    asked = seen
    return { status: 202, body: { transaction_id: 't', interval: 1 } }
  })
  let polls = 0
  issuer.on('deferred', ({ headers }, usual) =>
    ++polls === 1
      ? { status: 202, body: { transaction_id: 't', interval: 1 } }
      : make({ ...asked!, headers }, usual),
  )
  await refresh(holder, first.recordId)
  const record = await renewed(holder, first.recordId)
  expect(renewalOf(record)).toMatchObject({ state: 'possible', count: 1 })
  expect(polls).toBe(2)
  expect(keyOf(record)).not.toBe(keyOf(first))
})

test.each(['token', 'nonce', 'credential'])(
  'a %s endpoint that fails for a while is asked again',
  async (name) => {
    const state = givesRefreshTokens(issuer)
    const { recordId } = await acceptOffer(holder, issuer.offer())
    const answer = issuer.answerOf(name)
    let failures = 0
    issuer.on(name, (seen, usual) => {
      if (++failures <= 2) return { status: 503, body: {} }
      return answer ? answer(seen, usual) : usual
    })
    await refresh(holder, recordId)
    const record = await renewed(holder, recordId)
    expect(renewalOf(record)).toMatchObject({ state: 'possible', count: 1 })
    // The access token of the first attempt is used.
    expect(state).toMatchObject({ current: 1, reused: 0 })
  },
)

test.each<[string, object, string]>([
  ['another token_type', { token_type: 'Bearer' }, 'token_type is not DPoP'],
  [
    'other credential_identifiers',
    {
      authorization_details: [
        {
          type: 'openid_credential',
          credential_configuration_id: 'Licence',
          credential_identifiers: ['other'],
        },
      ],
    },
    'credential_identifiers are not those',
  ],
])('a token response with %s is refused, and its refresh token is kept', async (_, members, reason) => {
  const state = givesRefreshTokens(issuer)
  const known = {
    authorization_details: [
      {
        type: 'openid_credential',
        credential_configuration_id: 'Licence',
        credential_identifiers: ['licence'],
      },
    ],
  }
  const answer = issuer.answerOf('token')
  const withMembers =
    (more: object): Answer =>
    async (seen, usual) => {
      const { body, ...reply } = await answer(seen, usual)
      return { ...reply, body: { ...(body as object), ...more } }
    }
  issuer.on('token', withMembers(known))
  const { recordId } = await acceptOffer(holder, issuer.offer())
  issuer.on('token', withMembers({ ...known, ...members }))
  await refresh(holder, recordId)
  const refused = renewalOf(await renewed(holder, recordId))
  expect(refused).toMatchObject({ state: 'possible', reason: expect.stringContaining(reason) })
  issuer.on('token', withMembers(known))
  await refresh(holder, recordId)
  expect(renewalOf(await renewed(holder, recordId))).toMatchObject({ state: 'possible', count: 1 })
  expect(state).toMatchObject({ current: 2, reused: 0 })
  const last = JSON.parse(issuer.at('credential').at(-1)!.body)
  expect(last).toMatchObject({ credential_identifier: 'licence' })
})

test('a new credential of another type is refused, and the old one stays', async () => {
  givesRefreshTokens(issuer, { changes: (n) => (n === 0 ? {} : { vct: 'https://other.example' }) })
  const first = await acceptOffer(holder, issuer.offer())
  await refresh(holder, first.recordId)
  const record = await renewed(holder, first.recordId)
  expect(record.credential).toBe(first.credential)
  expect(renewalOf(record)).toMatchObject({
    state: 'possible',
    reason: expect.stringContaining('not accepted'),
    dueAt: expect.any(String),
  })
  const told = () => issuer.at('notification').map(({ body: sent }) => JSON.parse(sent))
  await until(
    'the issuer is told',
    async () => told(),
    (all) => all.some((each) => each.notification_id === 'n-1' && each.event === 'credential_failure'),
  )
})

test('keys of replaced copies are removed, and no key is used twice', async () => {
  const patient = await agent.newTenant('of many renewals')
  let isOther = false
  const state = givesRefreshTokens(issuer, {
    changes: () => (isOther ? { vct: 'https://other.example' } : {}),
  })
  const { recordId } = await acceptOffer(patient, issuer.offer(), 'CredentialReceived', { copies: 3 })
  const keys = new Set<string>()
  for (let count = 1; count <= 4; count++) {
    await refresh(patient, recordId)
    const record = await renewed(patient, recordId, count)
    expect(keys.has(keyOf(record))).toBe(false)
    keys.add(keyOf(record))
    // Those of the credential, and those of the set before.
    expect(await dids(patient)).toBe(6)
  }
  isOther = true
  for (let failure = 1; failure <= 3; failure++) {
    await refresh(patient, recordId)
    const done = () => show(patient, recordId)
    await until(
      'the failure',
      done,
      (record) => renewalOf(record).state === 'possible' && state.current >= 4 + failure,
    )
    expect(await dids(patient)).toBe(9)
  }
  isOther = false
  await refresh(patient, recordId)
  await renewed(patient, recordId, 5)
  expect(await dids(patient)).toBe(6)
})

/** The number of DIDs of a wallet. */
const dids = async ({ call }: Tenant) =>
  (await call('GET /did-registrar/dids', { query: { limit: 100, offset: 0 } })).contents.length

test('a removed credential is not renewed', async () => {
  givesRefreshTokens(issuer)
  const { recordId } = await acceptOffer(holder, issuer.offer())
  const planned = () =>
    agent.agent.wallets.use(holder.walletId, ({ db }) =>
      db.selectFrom('job').select('id').where('queue', '=', renewalQueueOf(recordId)).execute(),
    )
  expect(await planned()).toHaveLength(1)
  await remove(recordId)
  expect(await planned()).toEqual([])
})

describe('by itself', () => {
  test('before the end, again and again', async () => {
    const state = givesRefreshTokens(issuer, { seconds: 3 })
    const first = await acceptOffer(holder, issuer.offer())
    const record = await renewed(holder, first.recordId, 3)
    expect(renewalOf(record)).toMatchObject({ state: 'possible', count: 3 })
    expect(state.reused).toBe(0)
    await remove(first.recordId)
  })

  test('not a revoked credential, but when it is asked to', async () => {
    const dataDir = temporaryFolder()
    givesRefreshTokens(issuer)
    const first = await startAgent({}, { dataDir })
    const patient = await first.newTenant('patient')
    const { recordId } = await acceptOffer(patient, issuer.offer())
    // As a notification of the issuer stores it.
    await makeDue(first, patient, recordId, { revocation: { at: new Date().toISOString() } })
    await first[Symbol.asyncDispose]()
    await using second = await startAgent({}, { dataDir })
    const again = { call: createClient(second.url, { apikey: patient.apiKey }) }
    const record = await renewed(again, recordId)
    expect(renewalOf(record)).toMatchObject({ state: 'ended', reason: expect.stringContaining('revoked') })
    expect(issuer.at('token')).toHaveLength(1)
    await refresh(again, recordId)
    expect(renewalOf(await renewed(again, recordId))).toMatchObject({ state: 'possible', count: 1 })
  })

  test('without a refresh token, an event says that it needs a person', async () => {
    issuer.on('credential', ({ body }) => {
      const now = Math.floor(Date.now() / 1_000)
      return {
        body: { credentials: [{ credential: issuer.issue(body, { issuedAt: now, expiresAt: now + 3 }) }] },
      }
    })
    const { recordId } = await acceptOffer(holder, issuer.offer())
    const record = await renewed(holder, recordId)
    expect(renewalOf(record)).toMatchObject({
      state: 'needs-you',
      reason: expect.stringContaining('no refresh token'),
    })
    const { contents } = await holder.call('GET /events', { query: { limit: 5, order: 'desc' } })
    expect(contents.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({
        recordId,
        openid4vci: expect.objectContaining({ renewal: expect.objectContaining({ state: 'needs-you' }) }),
      }),
    )
  })

  test('not while OID4VC_REFRESH is off', async () => {
    await using other = await startAgent({ OID4VC_REFRESH: 'false' })
    const patient = await other.newTenant('patient')
    givesRefreshTokens(issuer, { seconds: 2 })
    const { recordId } = await acceptOffer(patient, issuer.offer())
    await pause(2_500)
    expect(issuer.at('token')).toHaveLength(1)
    await refresh(patient, recordId)
    expect(renewalOf(await renewed(patient, recordId)).count).toBe(1)
  })

  test('also if its time passes while the agent does not run', async () => {
    const dataDir = temporaryFolder()
    const first = await startAgent({}, { dataDir })
    const patient = await first.newTenant('patient')
    givesRefreshTokens(issuer)
    const { recordId } = await acceptOffer(patient, issuer.offer())
    await makeDue(first, patient, recordId)
    await first[Symbol.asyncDispose]()
    expect(issuer.at('token')).toHaveLength(1)
    await using second = await startAgent({}, { dataDir })
    await until(
      'the renewal',
      () => Promise.resolve(issuer.at('credential').length),
      (count) => count >= 2,
    )
    expect(second.url).toBeDefined()
  })
})

const remove = (recordId: string) =>
  holder.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Makes a planned renewal due, as if its time had passed. The agent does not notice before it starts again: a
 * test that waited for the time would be too slow for it on a busy machine.
 */
async function makeDue(
  { agent: of }: TestAgent,
  { call, walletId }: Tenant,
  recordId: string,
  change: object = {},
): Promise<void> {
  await until(
    'the issuer is told',
    () => show({ call }, recordId),
    ({ openid4vci }) => openid4vci!.calls.at(-1)!.url.endsWith('/notification'),
  )
  const past = new Date(Date.now() - 1_000).toISOString()
  await of.wallets.use(walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const rows = tx.selectFrom('record').select('data').where('id', '=', recordId)
      const data = JSON.parse((await rows.executeTakeFirstOrThrow()).data)
      data.receivedOffer.renewal.dueAt = past
      const due = JSON.stringify({ ...data, ...change })
      await tx.updateTable('record').set({ data: due }).where('id', '=', recordId).execute()
      const job = tx.updateTable('job').where('queue', '=', renewalQueueOf(recordId))
      await job.set({ due_at: past, created_at: past }).execute()
    }),
  )
}
