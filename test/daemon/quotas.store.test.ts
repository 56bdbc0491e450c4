/** Quotas of wallets: operations above them fail as a whole, and deletions make room. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ProblemError } from '../../daemon/client/call.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { sharedAgent } from '../support/agent.ts'
import { refusal } from '../support/tenants.ts'
import { newProvider } from '../exchange/oid4vci/_attestations.ts'
import { addIssuer, offer, redeemOffer } from '../exchange/oid4vci/_wallet.ts'
import { openParty, typesOf } from '../support/party.ts'

const tooManyRecords = { status: 507, type: 'error:WalletManagementServiceError:TooManyRecords' }
const tooManyBytes = { status: 507, type: 'error:WalletManagementServiceError:TooManyBytes' }

test('the records of a wallet are limited; other wallets are not affected, and a deletion makes room', async () => {
  const agent = await sharedAgent({ RECORDS_PER_WALLET: '2' })
  const { tenant } = agent
  const first = await tenant('POST /connections')
  await tenant('POST /connections')
  expect(await refusal(tenant('POST /connections'))).toMatchObject(tooManyRecords)
  expect((await tenant('GET /connections')).contents).toHaveLength(2)
  expect((await tenant('GET /events')).contents).toHaveLength(2)
  await (await agent.newTenant()).call('POST /connections')
  await tenant('DELETE /connections/{connectionId}', { path: { connectionId: first.connectionId } })
  expect((await tenant('POST /connections')).state).toBe('InvitationGenerated')
})

test('a message without room for it is refused temporarily, and accepted when there is room', async () => {
  const agent = await sharedAgent({ RECORDS_PER_WALLET: '2' })
  await using party = await openParty()
  const tenant = await agent.newTenant()
  const { theirDid } = await party.connect(tenant)
  const { connectionId } = await tenant.call('POST /connections')
  const options = { challenge: randomUUID(), domain: 'party.example' }
  const body = { credential_preview: { body: { attributes: [{ name: 'a', value: 'b' }] } } }
  const offer = {
    id: randomUUID(),
    type: typesOf.offer,
    body,
    attachments: [jsonAttachment('1', { options }, 'prism/jwt')],
  }
  const refused = await party.send(theirDid, offer)
  expect(refused.status).toBe(507)
  expect(refused.detail).toContain('again later')
  expect((await tenant.call('GET /issue-credentials/records')).contents).toEqual([])
  await tenant.call('DELETE /connections/{connectionId}', { path: { connectionId } })
  expect((await party.send(theirDid, offer)).status).toBe(200)
  expect((await tenant.call('GET /issue-credentials/records')).contents).toHaveLength(1)
})

/** Repeats a call until it is refused. */
async function untilRefused(call: () => Promise<unknown>, most = 20) {
  for (let count = 0; count < most; count++) {
    const refused = await call().then(
      () => undefined,
      (error: ProblemError) => error.problem,
    )
    if (refused) return refused
  }
  throw new Error('nothing was refused')
}

/** A text that PostgreSQL cannot compress: it counts the bytes that it stores. */
const textOf = (length: number) => randomBytes(length).toString('base64').slice(0, length)

test('the bytes of a wallet are limited, including those in the file of all wallets', async () => {
  const agent = await sharedAgent({ BYTES_PER_WALLET: '1048576' })
  const { call } = await agent.newTenant()
  const makePolicy = (kilobytes: number) =>
    call('POST /verification/policies', {
      body: { name: 'n', description: textOf(kilobytes * 1_000), constraints: [] },
    })
  const input_descriptors = Array.from({ length: 20 }, (_, n) => ({
    id: `d${n}`,
    purpose: textOf(2_000),
    constraints: { fields: [] },
  }))
  const define = () =>
    call('POST /presentation-exchange/presentation-definitions', { body: { input_descriptors } })

  const { id } = await makePolicy(500)
  expect(await refusal(makePolicy(600))).toMatchObject(tooManyBytes)
  expect((await call('GET /verification/policies')).contents.map((policy) => policy.id)).toEqual([id])
  let count = 0
  expect(await untilRefused(() => define().then(() => count++), 30)).toMatchObject(tooManyBytes)
  expect((await call('GET /presentation-exchange/presentation-definitions')).contents).toHaveLength(count)
  // Rows in agent.db count for the wallet too.
  expect(await refusal(makePolicy(100))).toMatchObject(tooManyBytes)
  await call('DELETE /verification/policies/{id}', { path: { id } })
  expect((await makePolicy(100)).name).toBe('n')
})

test('the settings of issuers count, also when they are changed', async () => {
  const agent = await sharedAgent({ BYTES_PER_WALLET: '1048576' })
  const { call } = await agent.newTenant()
  // Text before a certificate is allowed (RFC 7468 §2).
  const walletProviders = { certificates: `${'a '.repeat(95_000)}\n${(await newProvider()).root}` }
  const issuers: string[] = []
  const make = () =>
    call('POST /oid4vci/issuers', { body: { walletProviders } }).then(({ id }) => issuers.push(id))
  const problem = await untilRefused(make)
  expect(problem).toMatchObject(tooManyBytes)
  expect(issuers.length).toBeLessThan(8)
  const path = { issuerId: issuers[0]! }
  const change = () => call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { walletProviders } })
  expect(await refusal(change())).toMatchObject(tooManyBytes)
  await call('DELETE /oid4vci/issuers/{issuerId}', { path: { issuerId: issuers[1]! } })
  expect((await change()).id).toBe(issuers[0])
})

test('wrong transaction codes are counted in a full wallet too', async () => {
  const agent = await sharedAgent({ BYTES_PER_WALLET: '1048576' })
  const tenant = await agent.newTenant()
  const setup = await addIssuer(agent, tenant)
  const { credentialOffer, recordId } = await offer(setup, { txCode: true })
  for (const kilobytes of [50, 2])
    await untilRefused(
      () =>
        tenant.call('POST /verification/policies', {
          body: { name: 'n', description: textOf(kilobytes * 1_000), constraints: [] },
        }),
      50,
    )
  for (let guess = 0; guess < 5; guess++) await redeemOffer(setup, credentialOffer, 'wrong')
  const { protocolState } = await tenant.call('GET /issue-credentials/records/{recordId}', {
    path: { recordId },
  })
  expect(protocolState).toBe('OfferBlocked')
})

test('a wallet has a hundred issuers, and their keys only what is needed', async () => {
  const { call } = await (await sharedAgent()).newTenant()
  const key = { ...toPublic(generateKey('P-256')), kid: 'a', more: 'b' } as never
  const { walletProviders } = await call('POST /oid4vci/issuers', {
    body: { walletProviders: { jwks: { keys: [key] } } },
  })
  expect(Object.keys(walletProviders!.jwks!.keys[0]!).toSorted()).toEqual(['crv', 'kid', 'kty', 'x', 'y'])
  for (let count = 1; count < 100; count++) await call('POST /oid4vci/issuers', { body: {} })
  const problem = await refusal(call('POST /oid4vci/issuers', { body: {} }))
  expect(problem).toMatchObject({ status: 409, detail: expect.stringContaining('100 issuers') })
})
