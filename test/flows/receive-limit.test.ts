/** `DIDCOMM_MAX_RECEIVE_BYTES` limits messages at every entry point. */
import { expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../support/agent.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  refusal,
  startPair,
} from '../support/tenants.ts'
import { openParty } from '../support/party.ts'
import { newWallet } from '../exchange/mediator/_mediator.ts'
import { openSocket } from '../exchange/mediator/_socket.ts'
import { prove } from './_steps.ts'

const limit = 20_000
const settings = { DIDCOMM_MAX_RECEIVE_BYTES: String(limit) }
const ping = 'https://didcomm.org/trust-ping/2.0/ping'

/** The same envelope padded with whitespace to a size. */
const padded = (envelope: string, bytes: number) => envelope.padEnd(bytes)

async function post({ didcommUrl }: TestAgent, body: string) {
  const headers = { 'content-type': 'application/didcomm-encrypted+json' }
  const response = await fetch(didcommUrl, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

test('a message of exactly the size limit is accepted, and one byte more is not', async () => {
  await using agent = await startAgent(settings)
  await using party = await openParty()
  const { theirDid } = await party.connect(await agent.newTenant())
  const envelope = () => party.pack(theirDid, { type: ping })
  expect(await post(agent, padded(envelope(), limit))).toEqual({ status: 200, text: '' })
  const { status, text } = await post(agent, padded(envelope(), limit + 1))
  expect(status).toBe(400)
  expect(JSON.parse(text)).toMatchObject({
    type: 'error:DIDCommControllerError:RequestBodyParsingError',
    detail: `The message is larger than ${limit} bytes.`,
  })
})

test('a mediator has the same limit, and closes a socket that sends more', async () => {
  await using host = await startAgent({ AGENT_MEDIATOR: 'true', ...settings })
  const wallet = newWallet()
  const envelope = () => wallet.pack(host.agent.mediator!.did, { type: ping })
  expect((await post(host, padded(envelope(), limit))).status).toBe(200)
  expect((await post(host, padded(envelope(), limit + 1))).status).toBe(400)
  using socket = await openSocket(host.didcommUrl, wallet)
  socket.send(padded(envelope(), limit))
  expect((await socket.next()).type).toMatch(/ping-response$/)
  socket.send(padded(envelope(), limit + 1))
  expect(await socket.closed()).toBe(1009)
})

test('the limit is disclosed', async () => {
  await using agent = await startAgent(settings)
  await using party = await openParty()
  const { theirDid } = await party.connect(await agent.newTenant())
  const body = { queries: [{ 'feature-type': 'constraint', match: 'max_receive_bytes' }] }
  await party.send(theirDid, { type: 'https://didcomm.org/discover-features/2.0/queries', body })
  expect((await party.next('https://didcomm.org/discover-features/2.0/disclose')).body).toEqual({
    disclosures: [{ 'feature-type': 'constraint', id: 'max_receive_bytes', value: String(limit) }],
  })
})

test.each([
  ['below the limit of HTTP bodies', limit],
  ['larger', 1_500_000],
])('an envelope of that size can be unpacked, as text or as JSON, when it is %s', async (_name, size) => {
  await using agent = await startAgent({ DIDCOMM_MAX_RECEIVE_BYTES: String(size) })
  await using party = await openParty()
  const tenant = await agent.newTenant()
  const { theirDid } = await party.connect(tenant)
  const unpack = (envelope: string | Record<string, unknown>) =>
    tenant.call('POST /didcomm/unpack', { body: { envelope } })
  const content = 'x'.repeat(Math.floor((size * 3) / 4) - 3_000)
  const envelope = party.pack(theirDid, { type: ping, body: { content } })
  expect(envelope.length).toBeGreaterThan(size * 0.8)
  for (const form of [JSON.parse(envelope), padded(envelope, size)]) {
    expect((await unpack(form)).message.body).toEqual({ content })
  }
  const refused = {
    status: 422,
    type: 'error:DIDCommControllerError:UnpackingFailed',
    detail: expect.stringContaining(String(size)),
  }
  const larger = { ...JSON.parse(envelope), more: 'x'.repeat(size - envelope.length) }
  for (const form of [larger, padded(envelope, size + 1)])
    expect(await refusal(unpack(form))).toMatchObject(refused)
})

test('the main flow works with the smallest configurable limit', async () => {
  await using pair = await startPair({ DIDCOMM_MAX_RECEIVE_BYTES: '16384' })
  const { issuer, holder } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  const [issuing, subject] = [await newDid(issuer, 'assertionMethod'), await newDid(holder, 'authentication')]
  const claims = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`claim${n}`, 'x'.repeat(30)]))
  const { recordId, thid } = await issue(
    issuer,
    holder,
    inviterConnectionId,
    issuing.did,
    subject.did,
    claims,
  )
  await credentialIn(issuer.call, thid, 'CredentialSent')
  const asked = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId: inviterConnectionId, options: { challenge: 'c', domain: 'd' }, proofs: [] },
  })
  const { presentationId } = await presentationIn(holder.call, asked.thid, 'RequestReceived')
  await prove(holder, presentationId, recordId)
  await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
})
