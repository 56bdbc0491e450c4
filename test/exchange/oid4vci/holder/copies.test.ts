/** Copies of a credential: asked for as a batch, and presented in turn over both protocols. */
import { beforeEach, expect, test } from 'vitest'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import type { PublicJwk } from '../../../../src/foundation/crypto/keys.ts'
import { connect, presentationIn, refusal } from '../../../support/tenants.ts'
import { credentialQuery, presented, requested } from '../../oid4vp/holder/_holder.ts'
import { offer } from '../_wallet.ts'
import { accept, acceptOffer, inState, licence, receive, show, startHolderPair } from './_holder.ts'
import { keysIn, startFakeIssuer, vct, type Changes } from './_issuer.ts'
import { givesRefreshTokens } from './_refresh.ts'
import { untilEnd } from '../../../support/shared.ts'

const [pair, issuer] = await Promise.all([untilEnd(startHolderPair()), untilEnd(startFakeIssuer())])
beforeEach(() => issuer.reset())

async function takeCopies(copies: number, options: object = licence) {
  const { setup, holder } = pair
  const made = await offer(setup, { ...options, txCode: false })
  const { recordId } = await receive(holder, made.credentialOffer, { copies })
  await accept(holder, recordId)
  return { recordId, issuerRecordId: made.recordId }
}

/** The key that a listed SD-JWT is bound to. */
async function keyOf(recordId: string): Promise<string> {
  const { credential } = await show(pair.holder, recordId)
  return decodeSdJwt(Buffer.from(credential!, 'base64url').toString()).holderKey!.x
}

test('each of three copies is presented once before one is repeated, over DIDComm', async () => {
  const { agent, holder } = pair
  const { recordId } = await takeCopies(3)
  await inState(holder, recordId, 'CredentialReceived')
  const verifier = await agent.newTenant('verifier')
  const { inviterConnectionId: connectionId } = await connect(verifier, holder)
  const keys: string[] = []
  for (let count = 0; count < 4; count++) {
    keys.push(await keyOf(recordId))
    const { thid } = await verifier.call('POST /present-proof/presentations', {
      body: {
        connectionId,
        credentialFormat: 'SDJWT',
        proofs: [],
        claims: { name: {} },
        options: { challenge: 'challenge', domain: 'domain' },
      },
    })
    const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
    await holder.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action: 'request-accept', proofId: [recordId], claims: { name: {} } },
    })
    const { data } = await presentationIn(verifier.call, thid, 'PresentationVerified')
    expect(decodeSdJwt(data[0]!).holderKey!.x).toBe(keys.at(-1))
  }
  expect(new Set(keys).size).toBe(3)
  expect(keys[3]).toBe(keys[0])
})

test('each of two copies is presented once before one is repeated, over OpenID4VP', async () => {
  const { agent, holder } = pair
  const { recordId } = await takeCopies(2)
  const { openid4vci } = await inState(holder, recordId, 'CredentialReceived')
  const verifier = { tenant: await agent.newTenant('relying party') }
  const dcqlQuery = { credentials: [credentialQuery({ types: openid4vci!.types })] }
  const keys: string[] = []
  for (let count = 0; count < 3; count++) {
    keys.push(await keyOf(recordId))
    const request = await requested({ verifier, holder }, { dcqlQuery })
    const { proved } = await presented({ verifier, holder }, request, { proofId: [recordId] })
    expect(decodeSdJwt(proved.data[0]!).holderKey!.x).toBe(keys.at(-1))
  }
  expect(keys[1]).not.toBe(keys[0])
  expect(keys[2]).toBe(keys[0])
})

test('two unused copies of three lead to a renewal some hours later', async () => {
  const { agent, holder } = pair
  givesRefreshTokens(issuer, { seconds: 30 * 86_400 })
  const { recordId } = await acceptOffer(holder, issuer.offer(), 'CredentialReceived', { copies: 3 })
  const verifier = { tenant: await agent.newTenant('relying party') }
  const dcqlQuery = { credentials: [credentialQuery({ types: [vct] })] }
  const present = async () => {
    const request = await requested({ verifier, holder }, { dcqlQuery })
    await presented({ verifier, holder }, request, { proofId: [recordId] })
    return Date.parse((await show(holder, recordId)).openid4vci!.renewal!.dueAt!) - Date.now()
  }
  const hour = 3_600_000
  const first = await present()
  expect(first).toBeGreaterThan(0.9 * hour)
  expect(first).toBeLessThan(24 * hour)
  // Later presentations do not tell the issuer more.
  expect(Math.abs((await present()) - first)).toBeLessThan(60_000)
  expect(issuer.at('token')).toHaveLength(1)
})

test('copies are deferred together, with the keys of the request', async () => {
  const { setup, holder } = pair
  const { recordId, issuerRecordId } = await takeCopies(2, { ...licence, automaticIssuance: false })
  await inState(holder, recordId, 'CredentialDeferred')
  await setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId: issuerRecordId },
  })
  const { openid4vci } = await inState(holder, recordId, 'CredentialReceived')
  expect(openid4vci!.copies).toBe(2)
})

test('an issuer may issue fewer copies', async () => {
  hasBatches()
  issuer.on('credential', ({ body }) => ({ body: { credentials: [{ credential: issuer.issue(body) }] } }))
  await acceptOffer(pair.holder, issuer.offer(), 'CredentialReceived', { copies: 2 })
})

function hasBatches() {
  const batch = { batch_credential_issuance: { batch_size: 2 } }
  issuer.on('openid-credential-issuer', () => ({ body: { ...issuer.metadata, ...batch } }))
}

test.each<[string, (index: number, keys: PublicJwk[]) => Changes, string]>([
  ['bound to the same key', (_, [first]) => ({ holderKey: first! }), 'that of another copy'],
  ['with other claims', (index, keys) => ({ holderKey: keys[index]!, name: `Alice ${index}` }), 'differs in'],
])('copies %s are refused', async (_, changes, reason) => {
  hasBatches()
  issuer.on('credential', ({ body }) => {
    const keys = keysIn(JSON.parse(body))
    const copies = keys.map((_key, index) => ({ credential: issuer.issue(body, changes(index, keys)) }))
    return { body: { credentials: copies } }
  })
  const { metaLastFailure } = await acceptOffer(pair.holder, issuer.offer(), 'IssuanceFailed', { copies: 2 })
  expect(metaLastFailure!.detail).toContain(reason)
})

test('more copies than the issuer issues are refused', async () => {
  expect(await refusal(receive(pair.holder, issuer.offer(), { copies: 2 }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('copies: the issuer issues at most 1'),
  })
  hasBatches()
  const { detail } = await refusal(receive(pair.holder, issuer.offer(), { copies: 3 }))
  expect(detail).toContain('at most 2')
})
