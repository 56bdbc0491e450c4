/** The DIDComm endpoint against forged and anonymous senders. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateKey, type PrivateJwk } from '../../src/foundation/crypto/keys.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { packAuthcrypt } from '../../src/exchange/didcomm/pack.ts'
import { connectionIn, startPair } from '../support/tenants.ts'
import { recipientOf } from '../support/party.ts'
import { newStranger } from './_steps.ts'

async function post(url: string, body: string, type = 'application/didcomm-encrypted+json') {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
  return { status: response.status, body: await response.text() }
}

const requestType = 'https://atalaprism.io/mercury/connections/1.0/request'

test('an unknown sender can answer an invitation once, and a repeated message counts once', async () => {
  await using pair = await startPair()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const to = made.invitation.from
  const { did, sender } = newStranger()
  const request = {
    id: randomUUID(),
    type: requestType,
    from: did,
    to: [to],
    thid: made.thid,
    pthid: made.thid,
    body: {},
  }
  const pack = (message: object) => packAuthcrypt(message as never, { sender, recipients: [recipientOf(to)] })
  const wire = pack(request)
  const mailbox = (resolvePeerDid(to).service![0]!.serviceEndpoint as { uri: string }).uri
  expect((await post(mailbox, wire)).status).toBe(200)
  const after = await connectionIn(pair.issuer.call, made.thid, 'ConnectionResponsePending')
  expect(after.theirDid).toBe(did)
  expect(await post(mailbox, wire)).toEqual({ status: 200, body: '' })
  expect(await post(pair.agent.didcommUrl, pack(request))).toEqual({ status: 200, body: '' })
  expect((await post(mailbox, pack({ ...request, id: randomUUID() }))).status).toBe(400)
  const again = newStranger()
  const answer = { ...request, id: randomUUID(), from: again.did }
  const second = packAuthcrypt(answer, { sender: again.sender, recipients: [recipientOf(to)] })
  expect((await post(mailbox, second)).status).toBe(400)
})

test('the endpoint refuses everything that is not a message for it, and never fails', async () => {
  await using pair = await startPair()
  const { did, sender } = newStranger()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const to = made.invitation.from
  const message = { id: '1', type: 'https://example.com/unknown', from: did, to: [to], body: {} }
  const good = packAuthcrypt(message, { sender, recipients: [recipientOf(to)] })
  const another = newStranger()
  const forOthers = packAuthcrypt(
    { ...message, to: [another.did] },
    { sender, recipients: [recipientOf(another.did)] },
  )
  const url = pair.agent.didcommUrl
  const cases: [string, string, string, number][] = [
    ['plain JSON', url, '{"id":"1"}', 422],
    ['nothing', url, '', 422],
    ['invalid JSON', url, 'hello', 422],
    ['a body over the limit', url, 'a'.repeat(1_100_000), 400],
    ['an unknown type', url, good, 422],
    ['a message for another recipient', url, forOthers, 422],
    ['a forged mailbox', `${url}/${'2'.repeat(55)}`, good, 422],
    [
      'another tenant’s mailbox',
      `${url}/${pair.agent.agent.env.tokens.create('mailbox', pair.holder.walletId)}`,
      good,
      422,
    ],
    ['a deeper path', `${url}/a/b`, good, 404],
  ]
  for (const [name, where, body, status] of cases) expect((await post(where, body)).status, name).toBe(status)
  expect((await post(url, good, 'application/json')).status).toBe(400)
  expect((await post(url, good, 'application/didcomm-encrypted+json; charset=utf-8')).status).toBe(422)
  expect((await fetch(url)).status).toBe(404)
})

test('private keys are found for their own kid alone', async () => {
  await using pair = await startPair()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const to = made.invitation.from
  const { sender, did } = newStranger()
  const signing: PrivateJwk = generateKey('X25519')
  const message = { id: '1', type: 'x:y', from: did, to: [to], body: {} }
  const wrongKey = packAuthcrypt(message, {
    sender: { kid: sender.kid, privateJwk: signing },
    recipients: [recipientOf(to)],
  })
  expect((await post(pair.agent.didcommUrl, wrongKey)).status).toBe(422)
  const recipients = [{ ...recipientOf(to), kid: `${to}#key-2` }]
  const wrongKid = packAuthcrypt(message, { sender, recipients })
  expect((await post(pair.agent.didcommUrl, wrongKid)).status).toBe(422)
})
