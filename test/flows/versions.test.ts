/** Messages of later minor versions are accepted, of other major versions not (DIDComm v2.1, Semver Rules). */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createInvitation, toOob } from '../../src/exchange/didcomm/invitation.ts'
import { jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { newWallet } from '../exchange/mediator/_mediator.ts'
import { sharedAgent } from '../support/agent.ts'
import { credentialIn, presentationIn } from '../support/tenants.ts'
import { startWithParty } from './_steps.ts'

const pingOf = (version: string) => `https://didcomm.org/trust-ping/${version}/ping`
const attachments = [jsonAttachment('1', { options: { challenge: 'c', domain: 'd' } }, 'prism/jwt')]
const preview = { credential_preview: { body: { attributes: [] } } }

test('a ping of version 2.1 is answered in 2.0, one of another major version is refused', async () => {
  await using scene = await startWithParty()
  const id = randomUUID()
  expect(
    (await scene.say({ type: pingOf('2.1'), id, body: { response_requested: true, mood: 'good' } })).status,
  ).toBe(200)
  expect(await scene.party.next('https://didcomm.org/trust-ping/2.0/ping-response')).toMatchObject({
    thid: id,
  })
  for (const version of ['1.0', '3.0', '2']) {
    expect(await scene.say({ type: pingOf(version) }), version).toEqual({
      status: 422,
      detail: expect.stringContaining(pingOf(version)),
    })
  }
})

test('offers and presentation requests may have later minor versions', async () => {
  await using scene = await startWithParty()
  const { call, say } = scene
  const [offer, prism, didcommOrg] = [randomUUID(), randomUUID(), randomUUID()]
  const messages: [type: string, thid: string, status: number][] = [
    ['https://didcomm.org/issue-credential/3.1/offer-credential', offer, 200],
    ['https://didcomm.atalaprism.io/present-proof/3.1/request-presentation', prism, 200],
    ['https://didcomm.org/present-proof/3.7/request-presentation', didcommOrg, 200],
    ['https://didcomm.org/issue-credential/2.1/offer-credential', randomUUID(), 422],
    ['https://didcomm.org/present-proof/4.0/request-presentation', randomUUID(), 422],
  ]
  for (const [type, thid, status] of messages) {
    const body = type.includes('offer') ? preview : {}
    expect((await say({ type, thid, body, attachments })).status, type).toBe(status)
  }
  await credentialIn(call, offer, 'OfferReceived')
  for (const thid of [prism, didcommOrg]) await presentationIn(call, thid, 'RequestReceived')
  expect((await call('GET /issue-credentials/records')).contents).toHaveLength(1)
  expect((await call('GET /present-proof/presentations')).contents).toHaveLength(2)
})

test('the offer in an invitation may have a later minor version', async () => {
  await using scene = await startWithParty()
  const invitationOf = (type: string) => {
    const json = { id: randomUUID(), type, body: preview, attachments, thid: randomUUID() }
    const embedded = [{ id: '1', data: { json } }]
    return toOob(createInvitation({ id: randomUUID(), from: scene.party.did, attachments: embedded }))
  }
  const accept = (type: string) =>
    scene.tenant.call('POST /issue-credentials/credential-offers/accept-invitation', {
      body: { invitation: invitationOf(type) },
    })
  expect(await accept('https://didcomm.org/issue-credential/3.1/offer-credential')).toMatchObject({
    protocolState: 'OfferReceived',
  })
  await expect(accept('https://didcomm.org/issue-credential/4.0/offer-credential')).rejects.toThrow(
    'does not support',
  )
})

test('a mediator accepts the same versions', async () => {
  const host = await sharedAgent({ AGENT_MEDIATOR: 'true' })
  const wallet = newWallet()
  const ask = async (type: string) => {
    const response = await fetch(host.didcommUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/didcomm-encrypted+json' },
      body: wallet.pack(host.agent.mediator!.did, { type }),
    })
    return (await wallet.open(await response.text())).message
  }
  expect(await ask(pingOf('2.1'))).toMatchObject({ type: 'https://didcomm.org/trust-ping/2.0/ping-response' })
  expect(await ask('https://didcomm.org/coordinate-mediation/3.1/mediate-request')).toMatchObject({
    type: 'https://didcomm.org/coordinate-mediation/3.0/mediate-grant',
  })
  expect(await ask(pingOf('3.0'))).toMatchObject({
    body: { code: 'e.p.msg.unsupported', args: [pingOf('3.0')] },
  })
})
