/** Revocation within one agent: in the status list, at the holder and at the verifier. */
import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { decodeJws } from '../../src/credentials/codecs/jws.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  refusal,
  startPair,
  until,
  type Tenant,
} from '../support/tenants.ts'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { isOnPostgres } from '../support/store.ts'
import { rewriteRows } from '../support/rewrite-rows.ts'
import { faultsOf } from '../daemon/_cloud-agent-bodies.ts'
import { libraries } from '../credentials/codecs/_status-lists.ts'
import { readCredential, startWithCredential } from './_steps.ts'
import { isRevoked, present, refusalOf, statusOf } from './_revocation.ts'

/** A connected pair whose holder has a credential. */
async function startIssued(curve?: 'secp256k1' | 'Ed25519') {
  const pair = await startWithCredential({}, curve)
  const revoke = (id: string, { call }: Tenant = pair.issuer) =>
    call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
  return { ...pair, revoke }
}

const eventsOf = (pair: Awaited<ReturnType<typeof startPair>>, { walletId }: Tenant, thid: string) =>
  pair.agent.agent.wallets.use(walletId, async ({ db }) => {
    const rows = await db
      .selectFrom('event')
      .select('data')
      .where('subject', '=', thid)
      .orderBy('sequence')
      .execute()
    return rows.map(
      ({ data }) => JSON.parse(data) as { protocolState: string; revoked?: true; revokedAt?: string },
    )
  })

test.each(isOnPostgres ? (['secp256k1'] as const) : (['secp256k1', 'Ed25519'] as const))(
  'a revocation is immediate and permanent, and visible to holder and verifiers: %s',
  async (curve) => {
    await using pair = await startIssued(curve)
    const { issuer, holder, connectionId, recordId, issuerRecordId, thid, credential } = pair
    await credentialIn(issuer.call, thid, 'CredentialSent')
    await presentationIn(
      issuer.call,
      await present(issuer, holder, { connectionId }, recordId),
      'PresentationVerified',
    )
    expect(await isRevoked(credential)).toBe(false)
    expect((await readCredential(issuer, issuerRecordId)).revoked).toBeUndefined()

    expect(await pair.revoke(issuerRecordId)).toBeUndefined()
    expect(await isRevoked(credential)).toBe(true)
    const revoked = await readCredential(issuer, issuerRecordId)
    expect(revoked).toMatchObject({
      protocolState: 'CredentialSent',
      revoked: true,
      revokedAt: expect.any(String),
    })
    const notified = await until(
      'the revocation notice',
      () => readCredential(holder, recordId),
      (it) => it.revoked === true,
    )
    expect(notified.protocolState).toBe('CredentialReceived')
    expect(await refusalOf(issuer, await present(issuer, holder, { connectionId }, recordId))).toMatch(
      /the credential is revoked/,
    )
    const soft = await present(issuer, holder, { connectionId, statusCheck: 'if-available' }, recordId)
    expect(await refusalOf(issuer, soft)).toMatch(/the credential is revoked/)
    await presentationIn(
      issuer.call,
      await present(issuer, holder, { connectionId, statusCheck: 'off' }, recordId),
      'PresentationVerified',
    )

    await Promise.all([pair.revoke(issuerRecordId), pair.revoke(issuerRecordId)])
    expect(await readCredential(issuer, issuerRecordId)).toEqual(revoked)
    await until(
      'the delivery of all notices',
      () =>
        pair.agent.agent.wallets.use(issuer.walletId, ({ db }) => db.selectFrom('job').selectAll().execute()),
      (rows) => rows.length === 0,
    )
    for (const tenant of [issuer, holder]) {
      const events = await eventsOf(pair, tenant, thid)
      expect(events.filter((event) => event.revoked)).toEqual([events.at(-1)])
      expect(events.at(-1)!.protocolState).toBe(tenant === issuer ? 'CredentialSent' : 'CredentialReceived')
    }
  },
)

testOnSqlite('a tenant can revoke only credentials that it issued', async () => {
  await using pair = await startIssued()
  const stranger = await pair.agent.newTenant('stranger')
  const offer = await pair.issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId: pair.connectionId, issuingDID: pair.issuingDID, claims: { a: 1 } },
  })
  const place = 'error:CredentialStatusListError'
  expect(await refusal(pair.revoke(randomUUID()))).toMatchObject({
    status: 404,
    type: 'error:CredentialServiceError:RecordNotFound',
  })
  expect(await refusal(pair.revoke('nothing'))).toMatchObject({ status: 404 })
  expect(await refusal(pair.revoke(pair.issuerRecordId, stranger))).toMatchObject({ status: 404 })
  expect(await refusal(pair.revoke(pair.recordId, pair.holder))).toMatchObject({
    status: 422,
    type: `${place}:InvalidRoleForOperation`,
  })
  expect(await refusal(pair.revoke(offer.recordId))).toMatchObject({
    status: 404,
    type: `${place}:StatusListNotFoundForIssueCredentialRecord`,
    detail: expect.stringContaining('Offer'),
  })
  expect(await isRevoked(pair.credential)).toBe(false)
})

testOnSqlite('a credential can be revoked without a connection to its holder', async () => {
  await using pair = await startIssued()
  await pair.agent.agent.wallets.use(pair.issuer.walletId, (wallet) =>
    rewriteRows(wallet, (tx) =>
      tx
        .updateTable('record')
        .set({ state: 'ProblemReportReceived' })
        .where('id', '=', pair.connectionId)
        .execute(),
    ),
  )
  await pair.revoke(pair.issuerRecordId)
  expect(await isRevoked(pair.credential)).toBe(true)
})

test('credentials get random distinct indexes in one list of their issuer’s DID', async () => {
  await using pair = await startIssued()
  const others = await Promise.all(Array.from({ length: 12 }, () => pair.toHolder()))
  const statuses = [pair.credential, ...others.map(({ credential }) => credential)].map(statusOf)
  expect(new Set(statuses.map(({ statusListCredential }) => statusListCredential)).size).toBe(1)
  const indexes = statuses.map(({ statusListIndex }) => statusListIndex)
  expect(new Set(indexes).size).toBe(13)
  // Sorted by chance once in six billion runs.
  expect(indexes).not.toEqual(indexes.toSorted((a, b) => a - b))
  expect(statuses[0]).toEqual({
    id: `${statuses[0]!.statusListCredential}#${indexes[0]}`,
    type: 'StatusList2021Entry',
    statusPurpose: 'Revocation',
    statusListIndex: indexes[0],
    statusListCredential: expect.stringMatching(
      `^${pair.agent.url}/credential-status/[1-9A-HJ-NP-Za-km-z]{50,60}$`,
    ),
  })
  await Promise.all(others.map(({ issuerRecordId }) => pair.revoke(issuerRecordId)))
  expect(await Promise.all(others.map(({ credential }) => isRevoked(credential)))).toEqual(
    others.map(() => true),
  )
  expect(await isRevoked(pair.credential)).toBe(false)
})

test('a new list is used when one is half full', async () => {
  await using pair = await startIssued()
  const { used } = await pair.agent.agent.wallets.use(pair.issuer.walletId, (wallet) =>
    wallet.transaction(async (tx) => {
      await tx.updateTable('status_list').set({ used: 65_535 }).execute()
      return tx.selectFrom('status_list').select('used').executeTakeFirstOrThrow()
    }),
  )
  expect(used).toBe(65_535)
  const [last, next] = [await pair.toHolder(), await pair.toHolder()].map(
    ({ credential }) => statusOf(credential).statusListCredential,
  )
  expect(last).toBe(statusOf(pair.credential).statusListCredential)
  expect(next).not.toBe(last)
})

describe('the list', () => {
  testOnSqlite('is served as StatusList2021 and as Bitstring Status List from one URL', async () => {
    await using pair = await startIssued()
    const { statusListCredential: url, statusListIndex } = statusOf(pair.credential)
    await pair.revoke(pair.issuerRecordId)
    const json = (await (await fetch(url)).json()) as Record<string, any>
    expect(json).toMatchObject({
      '@context': ['https://www.w3.org/2018/credentials/v1', 'https://w3id.org/vc/status-list/2021/v1'],
      id: url,
      type: ['VerifiableCredential', 'StatusList2021Credential'],
      issuer: pair.issuingDID,
      issuanceDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      credentialSubject: { type: 'StatusList2021', statusPurpose: 'Revocation' },
      proof: { type: 'EcdsaSecp256k1Signature2019', proofPurpose: 'assertionMethod' },
    })
    expect(faultsOf('GET /credential-status/{id}', json)).toEqual([])
    const response = await fetch(url, { headers: { accept: 'application/vc+jwt' } })
    expect(response.headers.get('content-type')).toBe('application/vc+jwt')
    const { header, payload } = decodeJws(await response.text())
    expect(header).toEqual({ alg: 'ES256K', typ: 'vc+jwt', kid: `${pair.issuingDID}#key-1` })
    expect(payload).toMatchObject({
      id: url,
      issuer: pair.issuingDID,
      type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    })
    const subject = payload['credentialSubject'] as { encodedList: string }
    const list = await (await libraries.BitstringStatusList).decodeList(subject)
    expect([list.getStatus(statusListIndex), list.getStatus((statusListIndex + 1) % list.length)]).toEqual([
      true,
      false,
    ])
  })

  test('is signed once for all requests, and again after a change', async () => {
    await using pair = await startIssued()
    const { statusListCredential: url } = statusOf(pair.credential)
    const ask = () => fetch(url)
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask()))
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(new Set(bodies).size).toBe(1)
    const tag = answers[0]!.headers.get('etag')!
    expect(answers[0]!.headers.get('cache-control')).toBe('no-cache')
    // `fetch` bypasses caches for requests with an entity tag.
    const kept = await request(url, { headers: { 'if-none-match': tag } })
    expect([kept.statusCode, await kept.body.text()]).toEqual([304, ''])
    await pair.revoke(pair.issuerRecordId)
    const changed = await request(url, { headers: { 'if-none-match': tag } })
    expect(changed.statusCode).toBe(200)
    expect(await changed.body.text()).not.toBe(bodies[0])
  })

  testOnSqlite('is 404 for an unknown id, and needs no API key', async () => {
    await using pair = await startIssued()
    const { pathname } = new URL(statusOf(pair.credential).statusListCredential)
    const changed = pathname.slice(0, -1) + (pathname.endsWith('1') ? '2' : '1')
    for (const path of [
      changed,
      '/credential-status/c2688c98-ecb5-4dd3-87e8-a689b8fa84dd',
      '/credential-status/x',
    ]) {
      const answer = await pair.agent.send('GET', path)
      expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([
        404,
        'error:CredentialStatusListError:StatusListNotFound',
      ])
    }
  })

  testOnSqlite('of an unpublished issuer has its long-form DID', async () => {
    await using pair = await startPair()
    const { inviterConnectionId } = await connect(pair.issuer, pair.holder)
    const { longFormDid } = await pair.issuer.call('POST /did-registrar/dids', {
      body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' }] } },
    })
    const subject = await newDid(pair.holder, 'authentication')
    const { credential, recordId } = await issue(
      pair.issuer,
      pair.holder,
      inviterConnectionId,
      longFormDid,
      subject.did,
    )
    const { issuer } = (await (await fetch(statusOf(credential).statusListCredential)).json()) as {
      issuer: string
    }
    expect(issuer).toBe(longFormDid)
    const thid = await present(pair.issuer, pair.holder, { connectionId: inviterConnectionId }, recordId)
    await presentationIn(pair.issuer.call, thid, 'PresentationVerified')
  })
})
