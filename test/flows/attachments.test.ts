/** Offers and requests of other agents: several attachments, and a challenge without a domain. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodePayload } from '../../src/credentials/codecs/jws.ts'
import { attachmentBytes, jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { credentialIn, newDid, presentationIn } from '../support/tenants.ts'
import { typesOf } from '../support/party.ts'
import { acceptOfferWith, startWithParty } from './_steps.ts'

const body = { credential_preview: { body: { attributes: [{ name: 'a', value: 'b' }] } } }
const definition = { presentation_definition: { id: '1', input_descriptors: [] } }
const challenge = (options: object) => ({ options, ...definition })
const unknown = jsonAttachment('1', { credential: {} }, 'aries/ld-proof-vc-detail@v1.0')
const jwt = (options: object) => jsonAttachment('2', challenge(options), 'prism/jwt')

test('an offer in several formats is received in the first that is known', async () => {
  await using scene = await startWithParty()
  const thid = randomUUID()
  const attachments = [unknown, jwt({ challenge: 'c' })]
  expect((await scene.say({ type: typesOf.offer, thid, body, attachments })).status).toBe(200)
  const { recordId, credentialFormat } = await credentialIn(scene.call, thid, 'OfferReceived')
  expect(credentialFormat).toBe('JWT')
  const { did: subjectId } = await newDid(scene.tenant, 'authentication')
  await acceptOfferWith(scene.tenant, recordId, { subjectId })
  const request = await scene.party.next(typesOf.credentialRequest)
  const proof = decodePayload(Buffer.from(attachmentBytes(request.attachments![0] as any)).toString())
  expect(proof).toMatchObject({ nonce: 'c' })
  expect(proof).not.toHaveProperty('aud')
})

test('an offer without a known format is refused', async () => {
  await using scene = await startWithParty()
  const refused = await scene.say({
    type: typesOf.offer,
    thid: randomUUID(),
    body,
    attachments: [unknown, unknown],
  })
  expect(refused).toMatchObject({
    status: 400,
    detail: expect.stringContaining('none of which has a format'),
  })
})

test.each([{ challenge: 'c' }, { challenge: 'c', domain: null }])(
  'a request with the options %j is received',
  async (options) => {
    await using scene = await startWithParty()
    for (const format of ['prism/jwt', 'vc+sd-jwt']) {
      const thid = randomUUID()
      const attachments = [unknown, jsonAttachment('2', challenge(options), format)]
      const asked = { type: typesOf.presentationRequest, thid, body: {}, attachments }
      expect((await scene.say(asked)).status).toBe(200)
      await presentationIn(scene.call, thid, 'RequestReceived')
    }
  },
)
