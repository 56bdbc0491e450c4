/**
 * Envelopes and DIDs of this agent and of the stock Identus SDK, each read by the other. The SDK's Mercury
 * uses didcomm-rust with the keys of did:peer:2, so only X25519 and Ed25519. It packs authcrypt, or anoncrypt
 * with XC20P without a sender. Known limitation: it accepts a signed message whose `from` is not the signer's
 * DID, so these tests do not check the signer.
 */
import type { Domain } from '@hyperledger/identus-sdk'
import { describe, expect, test } from 'vitest'
import { toPaddedBase64url, utf8 } from '../../src/foundation/bytes.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { contentEncryptions } from '../../src/exchange/didcomm/content.ts'
import type { PrivateKey } from '../../src/exchange/didcomm/jwe.ts'
import { attachmentBytes, attachmentJson, type PlaintextMessage } from '../../src/exchange/didcomm/message.ts'
import { encrypt, packAnoncrypt, packAuthcrypt, type Recipient } from '../../src/exchange/didcomm/pack.ts'
import { unpack } from '../../src/exchange/didcomm/unpack.ts'
import { signed } from '../exchange/didcomm/_forge.ts'
import { startSdk } from './_holder.ts'
import { sdk } from './_sdk.ts'

const { AttachmentDescriptor, DID, DIDDocument, Message } = sdk.Domain

/** A DID of this agent with its keys. */
function newPerson(serviceUri = 'http://127.0.0.1:8090/mailbox') {
  const [agreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(agreement),
    authentication: toPublic(authentication),
    serviceUri,
  })
  const sender: PrivateKey = { kid: `${did}#key-1`, privateJwk: agreement }
  const signer: PrivateKey = { kid: `${did}#key-2`, privateJwk: authentication }
  return { did, sender, signer, agreement: toPublic(agreement), authentication: toPublic(authentication) }
}

/** The encryption key of a DID. */
function recipientOf(did: string): Recipient {
  const { id, publicKeyJwk } = keysFor(resolvePeerDid(did), 'keyAgreement')[0]!
  return { kid: id, publicJwk: publicKeyJwk }
}

const service = (type: string, uri: string, accept?: string[], routingKeys?: string[]) =>
  new DIDDocument.Service('#service', [type], new DIDDocument.ServiceEndpoint(uri, accept, routingKeys))

/** The DID of the SDK. */
const own = newPerson()

// Nothing listens there: the SDK falls back to the state in a long-form DID.
const agent = await startSdk('http://127.0.0.1:9/')
const sdkDid = await agent.createNewPeerDID([service('DIDCommMessaging', 'http://127.0.0.1/inbox')], false)

/** A message from this agent to the SDK. */
const newMessage = (): PlaintextMessage => ({
  id: '9f0b9f3e-8f9a-4a55-93a4-6f2f3a1b5a11',
  typ: 'application/didcomm-plain+json',
  type: 'https://didcomm.org/basicmessage/2.0/message',
  from: own.did,
  to: [sdkDid.toString()],
  thid: 'a thread',
  pthid: 'its parent',
  created_time: 1_700_000_000,
  expires_time: 1_700_001_000,
  body: { content: 'für Ägypten 🏛', nested: { list: [1, null, 'x'] } },
  attachments: [
    { id: 'text', format: 'prism/jwt', data: { base64: toPaddedBase64url('~?>ÿ') } },
    { id: 'value', format: 'prism/jwt', media_type: 'application/json', data: { json: { a: [1] } } },
  ],
})

/** The same in the form of the SDK. */
const sdkMessage = () => ({
  id: newMessage().id,
  piuri: newMessage().type,
  from: { uuid: own.did },
  to: { uuid: sdkDid.uuid },
  thid: 'a thread',
  pthid: 'its parent',
  createdTime: 1_700_000_000,
  expiresTimePlus: 1_700_001_000,
  body: newMessage().body,
})

const newAuthcrypt = () =>
  packAuthcrypt(newMessage(), { sender: own.sender, recipients: [recipientOf(sdkDid.toString())] })
const anoncryptOf = (content: unknown, enc: (typeof contentEncryptions)[number]) =>
  encrypt(utf8(typeof content === 'string' ? content : JSON.stringify(content)), {
    recipients: [recipientOf(sdkDid.toString())],
    enc,
  })

describe('the SDK unpacks this agent’s', () => {
  test('authcrypt, with every header, and attachments in either form', async () => {
    const message = await agent.mercury.unpackMessage(newAuthcrypt())
    expect(message).toMatchObject(sdkMessage())
    expect(
      message.attachments.map(({ id, format, payload }) => ({ id, format, payload: payload as unknown })),
    ).toEqual([
      { id: 'text', format: 'prism/jwt', payload: '~?>ÿ' },
      { id: 'value', format: 'prism/jwt', payload: { a: [1] } },
    ])
  })

  test.each(contentEncryptions)('anoncrypt by %s', async (enc) => {
    const envelope = packAnoncrypt(newMessage(), { recipients: [recipientOf(sdkDid.toString())], enc })
    expect(await agent.mercury.unpackMessage(envelope)).toMatchObject(sdkMessage())
  })

  test.each(contentEncryptions)('anoncrypt by %s of authcrypt', async (enc) => {
    expect(await agent.mercury.unpackMessage(anoncryptOf(newAuthcrypt(), enc))).toMatchObject(sdkMessage())
  })

  test.each(contentEncryptions)('anoncrypt by %s of a signed message', async (enc) => {
    expect(
      await agent.mercury.unpackMessage(anoncryptOf(signed(newMessage(), [own.signer]), enc)),
    ).toMatchObject(sdkMessage())
  })

  test('anoncrypt of a signed message, but not with a signature by another key', async () => {
    const jws = signed(newMessage(), [{ ...own.signer, privateJwk: newPerson().signer.privateJwk }])
    await expect(agent.mercury.unpackMessage(anoncryptOf(jws, 'XC20P'))).rejects.toBeDefined()
  })

  test('authcrypt with a message of half a megabyte', async () => {
    const body = { content: 'x'.repeat(500_000) }
    const recipients = [recipientOf(sdkDid.toString())]
    const message = await agent.mercury.unpackMessage(
      packAuthcrypt({ ...newMessage(), body }, { sender: own.sender, recipients }),
    )
    expect(message.body).toEqual(body)
  })

  test.each(['tag', 'ciphertext', 'iv'])('authcrypt, but not with one flipped bit in %s', async (member) => {
    const envelope = JSON.parse(newAuthcrypt()) as Record<string, string>
    const bytes = Buffer.from(envelope[member]!, 'base64url')
    bytes[0]! ^= 1
    await expect(
      agent.mercury.unpackMessage(JSON.stringify({ ...envelope, [member]: bytes.toString('base64url') })),
    ).rejects.toBeDefined()
  })
})

describe('this agent unpacks the SDK’s', () => {
  const attachments = [
    // One in the form of each of its protocols: a request, a presentation, a forward.
    new AttachmentDescriptor(
      { base64: Buffer.from('~?>ÿ').toString('base64').replaceAll('=', '') },
      'prism/jwt',
      'request',
      undefined,
      'prism/jwt',
    ),
    AttachmentDescriptor.build('~?>ÿ', 'presentation', undefined, undefined, 'prism/jwt'),
    new AttachmentDescriptor({ json: { a: [1] } }, 'application/json', 'forward'),
  ]
  const message = (from?: Domain.DID) =>
    new Message(
      { content: 'für Ägypten 🏛' },
      'an-id',
      newMessage().type,
      from,
      DID.from(own.did),
      attachments,
      'a thread',
      {},
      1_700_000_000,
      0,
      [],
      0,
      undefined,
      'its parent',
    )
  const open = (envelope: string) =>
    unpack(envelope, {
      findPrivateKey: async (kids) => (kids.includes(own.sender.kid) ? own.sender : undefined),
      resolve: async (did) => resolvePeerDid(did),
    })

  test('authcrypt, with the sender’s key from its DID', async () => {
    const opened = await open(await agent.mercury.packMessage(message(sdkDid)))
    expect(opened).toMatchObject({
      senderKid: `${sdkDid.toString()}#key-1`,
      recipientKid: own.sender.kid,
      authenticated: true,
      anonymous: false,
      message: {
        id: 'an-id',
        type: newMessage().type,
        from: sdkDid.toString(),
        to: [own.did],
        thid: 'a thread',
        pthid: 'its parent',
        created_time: 1_700_000_000,
        body: { content: 'für Ägypten 🏛' },
      },
    })
    const [request, presentation, forward] = opened.message.attachments!
    expect([request, presentation].map((part) => Buffer.from(attachmentBytes(part!)).toString())).toEqual([
      '~?>ÿ',
      '~?>ÿ',
    ])
    expect(attachmentJson(forward!)).toEqual({ a: [1] })
  })

  test('anoncrypt', async () => {
    const opened = await open(await agent.mercury.packMessage(message()))
    expect(opened).toMatchObject({
      authenticated: false,
      anonymous: true,
      message: { id: 'an-id', body: { content: 'für Ägypten 🏛' } },
    })
    expect(opened).not.toHaveProperty('senderKid')
  })

  test.each(['tag', 'ciphertext', 'iv'])('authcrypt, but not with one flipped bit in %s', async (member) => {
    const envelope = JSON.parse(await agent.mercury.packMessage(message(sdkDid))) as Record<string, string>
    const bytes = Buffer.from(envelope[member]!, 'base64url')
    bytes[0]! ^= 1
    await expect(
      open(JSON.stringify({ ...envelope, [member]: bytes.toString('base64url') })),
    ).rejects.toMatchObject({
      type: 'error:DIDCommControllerError:UnpackingFailed',
    })
  })
})
