/** Deferred issuance, which waits for the issuer's approval, and the notifications of wallets. */
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { ask } from '../../support/ask.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { changeGrant, fetchedAgo, longAgo, preAuthorized } from './_scene.ts'
import { Webhook } from '../../support/webhook.ts'
import {
  errorOf,
  fetchDeferred,
  prove,
  recordOf,
  redeemed,
  request,
  setBearerDeferral,
  startIssuer,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())

type Sent = { token?: string | undefined; body: object }

function send(endpoint: 'deferred-credentials' | 'notifications', { token, body }: Sent) {
  return ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/${endpoint}`, {
    body,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  })
}

function approve(recordId: string) {
  const path = { recordId }
  return setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', { path })
}

/** A request that waits for approval. */
async function deferred() {
  const made = await redeemed(setup, { automaticIssuance: false })
  expect(made.expiresIn).toBe(30 * 86_400)
  const key = generateKey('P-256')
  const reply = await request(setup, { token: made.token, jwt: await prove(setup, { key }) })
  expect(reply.status).toBe(202)
  expect(reply.body).toEqual({ transaction_id: expect.any(String), interval: expect.any(Number) })
  return { ...made, key, id: reply.body.transaction_id as string }
}

const stateOf = async (recordId: string) => (await recordOf(setup, recordId)).protocolState

describe('deferred issuance', () => {
  test('the wallet gets the credential after the approval, and again until it says that it has it', async () => {
    const { token, id, recordId } = await deferred()
    expect(await stateOf(recordId)).toBe('RequestDeferred')
    const waiting = await fetchDeferred(setup, token, id)
    expect([waiting.status, waiting.body]).toEqual([202, { transaction_id: id, interval: 5 }])
    await approve(recordId)
    expect(await stateOf(recordId)).toBe('RequestApproved')
    await approve(recordId)
    const { status, body } = await fetchDeferred(setup, token, id)
    expect([status, await stateOf(recordId)]).toEqual([200, 'CredentialSent'])
    expect(body).toEqual({
      credentials: [{ credential: expect.any(String) }],
      notification_id: expect.any(String),
    })
    expect((await fetchDeferred(setup, token, id)).body).toEqual(body)
    const accepted = { notification_id: body.notification_id, event: 'credential_accepted' }
    expect((await send('notifications', { token, body: accepted })).status).toBe(204)
    const over = await fetchDeferred(setup, token, id)
    expect([over.status, over.body.error]).toEqual([400, 'invalid_transaction_id'])
  })

  test('a wallet that says nothing gets the credential again for ten minutes', async () => {
    const { token, id, recordId } = await deferred()
    await approve(recordId)
    expect((await fetchDeferred(setup, token, id)).status).toBe(200)
    await fetchedAgo(setup, recordId, 590)
    expect((await fetchDeferred(setup, token, id)).status).toBe(200)
    await fetchedAgo(setup, recordId, 610)
    const over = await fetchDeferred(setup, token, id)
    expect([over.status, over.body.error]).toEqual([400, 'invalid_transaction_id'])
  })

  test('a repeated request waits on, with the same key', async () => {
    const { token, key, id, recordId } = await deferred()
    for (const approved of [false, true]) {
      if (approved) await approve(recordId)
      const again = await request(setup, { token, jwt: await prove(setup, { key }) })
      expect([again.status, again.body.transaction_id]).toEqual([202, id])
      const other = await request(setup, { token, jwt: await prove(setup) })
      expect([other.status, other.body.error]).toEqual([400, 'credential_request_denied'])
    }
    expect((await fetchDeferred(setup, token, id)).status).toBe(200)
  })

  test('each key of a batch gets its credential', async () => {
    const { token } = await redeemed(setup, { automaticIssuance: false })
    const jwt = await Promise.all([prove(setup), prove(setup)])
    const body = { credential_configuration_id: 'Person', proofs: { jwt } }
    const { transaction_id: id } = (await request(setup, { token, body })).body
    await approve(id)
    const [first, ...same] = await Promise.all([1, 2, 3].map(() => fetchDeferred(setup, token, id)))
    expect(first!.body.credentials).toHaveLength(2)
    for (const reply of same) expect(reply.body).toEqual(first!.body)
  })

  test('a transaction of another session, an unknown one, and requests without one are refused', async () => {
    const [{ token, id }, other] = [await deferred(), await deferred()]
    const immediate = await redeemed(setup)
    await request(setup, { token: immediate.token, jwt: await prove(setup) })
    const cases: [string | undefined, object, number, string][] = [
      [token, { transaction_id: other.id }, 400, 'invalid_transaction_id'],
      [other.token, { transaction_id: id }, 400, 'invalid_transaction_id'],
      [immediate.token, { transaction_id: immediate.recordId }, 400, 'invalid_transaction_id'],
      [token, {}, 400, 'invalid_credential_request'],
      [token, { transaction_id: 1 }, 400, 'invalid_credential_request'],
      [undefined, { transaction_id: id }, 401, 'invalid_token'],
    ]
    for (const [given, body, status, error] of cases) {
      const reply = await send('deferred-credentials', { token: given, body })
      expect([reply.status, reply.body.error], JSON.stringify(body)).toEqual([status, error])
    }
    await setup.tenant.call('DELETE /issue-credentials/records/{recordId}', {
      path: { recordId: other.recordId },
    })
    expect((await fetchDeferred(setup, other.token, other.id)).status).toBe(401)
  })
})

describe('the end of an access token', () => {
  const scene = { agent: setup.agent, setup }

  test('after its short time it is good for the deferred credential alone', async () => {
    const { token, id, recordId, key } = await deferred()
    await changeGrant(scene, recordId, { tokensEnd: longAgo })
    const again = await request(setup, { token, jwt: await prove(setup, { key }) })
    expect(errorOf(again)).toEqual([401, 'invalid_token'])
    await approve(recordId)
    expect((await fetchDeferred(setup, token, id)).status).toBe(200)
    const accepted = { notification_id: id, event: 'credential_accepted' }
    expect((await send('notifications', { token, body: accepted })).status).toBe(204)
  })

  test('it ends there too, after 30 days', async () => {
    const { token, id, recordId } = await deferred()
    await approve(recordId)
    await changeGrant(scene, recordId, { tokensEnd: longAgo, deferralEnds: longAgo })
    expect(errorOf(await fetchDeferred(setup, token, id))).toEqual([401, 'invalid_token'])
  })

  test('it says nothing of a credential that was issued at once', async () => {
    const { token, recordId } = await redeemed(setup)
    await request(setup, { token, jwt: await prove(setup) })
    await changeGrant(scene, recordId, { tokensEnd: longAgo, deferralEnds: '2999-01-01T00:00:00.000Z' })
    const accepted = { notification_id: recordId, event: 'credential_accepted' }
    const refused = await send('notifications', { token, body: accepted })
    expect(errorOf(refused)).toEqual([400, 'invalid_notification_id'])
  })

  test('is five minutes for a bearer token, ten for one with a key, and 30 days for a deferred one', async () => {
    const lifetimeOf = async (isBound: boolean, automaticIssuance: boolean) => {
      const { form } = await preAuthorized(setup, { automaticIssuance })
      const dpop = isBound ? proofFor(setup, 'token', { nonce: await newDpopNonce(setup) }) : undefined
      return (await post(setup, 'token', form, dpop)).body.expires_in
    }
    expect([await lifetimeOf(false, true), await lifetimeOf(true, true)]).toEqual([300, 600])
    expect([await lifetimeOf(false, false), await lifetimeOf(true, false)]).toEqual([2_592_000, 2_592_000])
    await setBearerDeferral(setup, false)
    expect([await lifetimeOf(false, false), await lifetimeOf(true, false)]).toEqual([300, 2_592_000])
    const { token, recordId } = await redeemed(setup, { automaticIssuance: false })
    const asked = await request(setup, { token, jwt: await prove(setup) })
    expect(asked.status).toBe(202)
    await changeGrant(scene, recordId, { tokensEnd: longAgo })
    expect(errorOf(await fetchDeferred(setup, token, recordId))).toEqual([401, 'invalid_token'])
    await setBearerDeferral(setup, true)
  })
})

describe('notifications', () => {
  const issued = async () => {
    const made = await redeemed(setup)
    const { body } = await request(setup, { token: made.token, jwt: await prove(setup) })
    return { ...made, id: body.notification_id as string }
  }

  test('the record and an event have the last one, which may be repeated', async () => {
    const { token, id, recordId } = await issued()
    await using webhook = await Webhook.open()
    await setup.tenant.call('POST /events/webhooks', { body: { url: webhook.url } })
    const failure = {
      notification_id: id,
      event: 'credential_failure',
      event_description: 'Could not store the Credential. Out of storage.',
    }
    for (const body of [failure, failure, { notification_id: id, event: 'credential_deleted' }])
      expect((await send('notifications', { token, body })).status).toBe(204)
    expect(await recordOf(setup, recordId)).toMatchObject({
      protocolState: 'CredentialSent',
      notification: { event: 'credential_deleted', at: expect.any(String) },
    })
    const deleted = (event: any) => event.data.notification?.event === 'credential_deleted'
    await webhook.waitFor('the last notification', deleted)
    expect(webhook.events.map(({ data }: any) => data.notification)).toEqual([
      { event: 'credential_failure', description: failure.event_description, at: expect.any(String) },
      { event: 'credential_deleted', at: expect.any(String) },
    ])
  })

  test('others are refused, and change nothing', async () => {
    const [{ token, id, recordId }, other] = [await issued(), await issued()]
    const waiting = await redeemed(setup)
    const event = 'credential_accepted'
    const cases: [string | undefined, object, number, string][] = [
      [token, { notification_id: other.id, event }, 400, 'invalid_notification_id'],
      [waiting.token, { notification_id: waiting.recordId, event }, 400, 'invalid_notification_id'],
      [token, { event }, 400, 'invalid_notification_request'],
      [token, { notification_id: id, event: 'lost' }, 400, 'invalid_notification_request'],
      [
        token,
        { notification_id: id, event, event_description: 'a "b"' },
        400,
        'invalid_notification_request',
      ],
      [undefined, { notification_id: id, event }, 401, 'invalid_token'],
    ]
    for (const [given, body, status, error] of cases) {
      const reply = await send('notifications', { token: given, body })
      expect([reply.status, reply.body.error], JSON.stringify(body)).toEqual([status, error])
    }
    expect(await recordOf(setup, recordId)).not.toHaveProperty('notification')
  })
})
