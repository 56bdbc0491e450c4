/**
 * Every message type in every state from senders other than the other side: nothing changes, and no event is
 * emitted.
 */
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import type { PrivateKey } from '../../src/exchange/didcomm/jwe.ts'
import { writeMessage, type PlaintextMessage } from '../../src/exchange/didcomm/message.ts'
import { encrypt, packAnoncrypt, packAuthcrypt } from '../../src/exchange/didcomm/pack.ts'
import { lastSequence } from '../../src/wallet/events/event.ts'
import { handlers } from '../../src/exchange/all-protocols.ts'
import { findPeerKey } from '../../src/wallet/peer-dids.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { signed } from '../exchange/didcomm/_forge.ts'
import {
  connect,
  connectionIn,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  type Tenant,
} from '../support/tenants.ts'
import { post, recipientOf } from '../support/party.ts'
import { startServer, withBody } from '../support/server.ts'
import { acceptOfferWith, newStranger, prove, requestProof } from './_steps.ts'

/** A proxy in front of the agent that records every envelope. */
async function openWire() {
  const envelopes: { path: string; body: string }[] = []
  let target = ''
  const server = await startServer(
    withBody((body, { url }, outgoing) => {
      envelopes.push({ path: url!, body })
      const headers = { 'content-type': 'application/didcomm-encrypted+json' }
      const onward = request(target + url!, { method: 'POST', headers })
      onward.on('response', (response) => outgoing.writeHead(response.statusCode!) && response.pipe(outgoing))
      onward.end(body)
    }),
  )
  return { ...server, envelopes, leadTo: (url: string) => (target = url) }
}

/** All records of a tenant over the API, and the number of its events. */
async function picture({ agent }: TestAgent, { call, walletId }: Tenant) {
  const lists = [
    await call('GET /connections'),
    await call('GET /issue-credentials/records'),
    await call('GET /present-proof/presentations'),
    await call('GET /messages'),
  ]
  const events = await agent.wallets.use(walletId, (wallet) => lastSequence(wallet.db))
  return { events, lists }
}

test('every type × every thread × eight kinds of attackers, and a replay of every envelope, change nothing', async () => {
  await using wire = await openWire()
  await using agent = await startAgent({ DIDCOMM_SERVICE_URL: wire.url })
  wire.leadTo(agent.didcommUrl)
  const [issuer, holder, third] = [
    await agent.newTenant('issuer'),
    await agent.newTenant('holder'),
    await agent.newTenant('third'),
  ]
  const { thid: connected, inviterConnectionId: connectionId } = await connect(issuer, holder)
  const other = await connect(third, holder)
  const [{ did: issuingDID }, { did: subjectId }] = [
    await newDid(issuer, 'assertionMethod'),
    await newDid(holder, 'authentication'),
  ]

  // Threads in different states on both sides.
  const open = await issuer.call('POST /connections', { body: {} })
  const { thid: issued, recordId } = await issue(issuer, holder, connectionId, issuingDID, subjectId)
  const offered = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { a: 1 } },
  })
  const requested = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { a: 2 } },
  })
  const { recordId: wanted } = await credentialIn(holder.call, requested.thid, 'OfferReceived')
  await acceptOfferWith(holder, wanted, { subjectId })
  const asked = await issuer.call('POST /present-proof/presentations', { body: { connectionId } })
  const proved = await requestProof(issuer, holder, { connectionId })
  await prove(holder, proved.presentationId, recordId)
  await Promise.all([
    credentialIn(holder.call, offered.thid, 'OfferReceived'),
    credentialIn(issuer.call, offered.thid, 'OfferSent'),
    credentialIn(issuer.call, requested.thid, 'RequestReceived'),
    credentialIn(holder.call, requested.thid, 'RequestSent'),
    credentialIn(issuer.call, issued, 'CredentialSent'),
    presentationIn(holder.call, asked.thid, 'RequestReceived'),
    presentationIn(issuer.call, asked.thid, 'RequestSent'),
    presentationIn(issuer.call, proved.thid, 'PresentationVerified'),
    presentationIn(holder.call, proved.thid, 'PresentationSent'),
  ])

  const holderDid = (await connectionIn(holder.call, connected, 'ConnectionResponseReceived')).myDid!
  const issuerDid = (await connectionIn(issuer.call, connected, 'ConnectionResponseSent')).myDid!
  const thirdDid = (await connectionIn(third.call, other.thid, 'ConnectionResponseSent')).myDid!
  const thirdKey = (await agent.agent.wallets.use(third.walletId, (wallet) =>
    findPeerKey(wallet, recipientOf(thirdDid).kid),
  )) as PrivateKey
  const mallory = newStranger()
  const before = [await picture(agent, issuer), await picture(agent, holder), await picture(agent, third)]
  const threads = [
    connected,
    other.thid,
    open.thid,
    issued,
    offered.thid,
    requested.thid,
    asked.thid,
    proved.thid,
    randomUUID(),
  ]

  let attempts = 0
  for (const type of Object.keys(handlers)) {
    for (const [victim, impersonated] of [
      [holderDid, issuerDid],
      [issuerDid, holderDid],
    ] as const) {
      for (const thid of threads) {
        const recipients = [recipientOf(victim)]
        const plain = (from?: string): PlaintextMessage => ({
          id: randomUUID(),
          type,
          ...(from !== undefined && { from }),
          to: [victim],
          thid,
          pthid: thid,
          body: {},
          attachments: [],
        })
        const forged = (message: PlaintextMessage, sender: PrivateKey) =>
          encrypt(writeMessage(message), { sender, recipients, enc: 'A256CBC-HS512' })
        const envelopes = {
          'an unknown DID': packAuthcrypt(plain(mallory.did), { sender: mallory.sender, recipients }),
          'an unknown DID as the other side': forged(plain(impersonated), mallory.sender),
          'the other side of another connection, in another tenant': packAuthcrypt(plain(thirdDid), {
            sender: thirdKey,
            recipients,
          }),
          'that one as the other side': forged(plain(impersonated), thirdKey),
          'anoncrypt as the other side': packAnoncrypt(plain(impersonated), { recipients }),
          anoncrypt: packAnoncrypt(plain(), { recipients }),
          'a signature by an unknown DID as the other side': encrypt(
            Buffer.from(JSON.stringify(signed(plain(impersonated), [mallory.signer]))),
            { recipients, enc: 'XC20P' },
          ),
          'a plaintext': JSON.stringify(plain(impersonated)),
        }
        for (const [who, envelope] of Object.entries(envelopes)) {
          const { status } = await post(agent.didcommUrl, envelope)
          // An empty message is accepted from any sender, because it has no effect.
          if (!type.includes('/empty/')) expect([400, 404, 422], `${type} from ${who}`).toContain(status)
          attempts++
        }
      }
    }
  }
  expect(attempts).toBe(Object.keys(handlers).length * 2 * threads.length * 8)
  expect(Object.keys(handlers).length).toBeGreaterThanOrEqual(15)

  // The other side of a connection, in threads of another connection.
  const issuerKey = (await agent.agent.wallets.use(issuer.walletId, (wallet) =>
    findPeerKey(wallet, recipientOf(issuerDid).kid),
  )) as PrivateKey
  const foreign = [other.thid, open.thid, randomUUID()]
  for (const type of Object.keys(handlers).filter((name) =>
    /connections|issue-credential|present-proof|problem-report/.test(name),
  )) {
    for (const thid of foreign) {
      const message = {
        id: randomUUID(),
        type,
        from: issuerDid,
        to: [holderDid],
        thid,
        pthid: thid,
        body: {},
        attachments: [],
      }
      const { status } = await post(
        agent.didcommUrl,
        packAuthcrypt(message, { sender: issuerKey, recipients: [recipientOf(holderDid)] }),
      )
      // A report is accepted and changes nothing.
      expect(type.includes('problem-report') ? [200, 400] : [400, 404, 422], type).toContain(status)
    }
  }

  const carried = wire.envelopes.splice(0)
  expect(carried.length).toBeGreaterThan(10)
  for (const { path, body } of carried) expect((await post(agent.didcommUrl + path, body)).status).toBe(200)
  expect([await picture(agent, issuer), await picture(agent, holder), await picture(agent, third)]).toEqual(
    before,
  )
})
