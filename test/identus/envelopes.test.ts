/**
 * Envelopes and DIDs, ours and the stock Identus SDK's, each read by the other. The SDK's Mercury is
 * didcomm-rust on the keys of did:peer:2, hence X25519 and Ed25519 alone; what it packs is authcrypt, or
 * anoncrypt with XC20P when there is no sender. Known of it: it takes a signed message of one DID that says
 * `from` another, which is why nothing here tells who signed.
 */
import type { Agent, Domain } from '@hyperledger/identus-sdk'
import { beforeAll, describe, expect, test } from 'vitest'
import { toPaddedBase64url, utf8 } from '../../src/base/bytes.ts'
import { generateKey, toPublic } from '../../src/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { contentEncryptions } from '../../src/didcomm/content.ts'
import type { PrivateKey } from '../../src/didcomm/jwe.ts'
import { attachmentBytes, attachmentJson, type PlaintextMessage } from '../../src/didcomm/message.ts'
import { encrypt, packAnoncrypt, packAuthcrypt, type Recipient } from '../../src/didcomm/pack.ts'
import { unpack } from '../../src/didcomm/unpack.ts'
import { signed } from '../didcomm/_forge.ts'
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

/** A key of a DID to encrypt to. */
function recipientOf(did: string): Recipient {
  const { id, publicKeyJwk } = keysFor(resolvePeerDid(did), 'keyAgreement')[0]!
  return { kid: id, publicJwk: publicKeyJwk }
}

const service = (type: string, uri: string, accept?: string[], routingKeys?: string[]) =>
  new DIDDocument.Service('#service', [type], new DIDDocument.ServiceEndpoint(uri, accept, routingKeys))

let agent: Agent
/** The DID of the SDK's side. */
let theirs: Domain.DID
const ours = newPerson()

beforeAll(async () => {
  // Nothing listens there: the SDK falls back to what a long-form DID says of itself.
  agent = await startSdk('http://127.0.0.1:9/')
  theirs = await agent.createNewPeerDID([service('DIDCommMessaging', 'http://127.0.0.1/inbox')], false)
})

/** A message from us to the SDK. */
const letter = (): PlaintextMessage => ({
  id: '9f0b9f3e-8f9a-4a55-93a4-6f2f3a1b5a11',
  typ: 'application/didcomm-plain+json',
  type: 'https://didcomm.org/basicmessage/2.0/message',
  from: ours.did,
  to: [theirs.toString()],
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

/** The same as the SDK hands it out. */
const letterThere = () => ({
  id: letter().id,
  piuri: letter().type,
  from: { uuid: ours.did },
  to: { uuid: theirs.uuid },
  thid: 'a thread',
  pthid: 'its parent',
  createdTime: 1_700_000_000,
  expiresTimePlus: 1_700_001_000,
  body: letter().body,
})

const ourAuthcrypt = () =>
  packAuthcrypt(letter(), { sender: ours.sender, recipients: [recipientOf(theirs.toString())] })
const anoncryptOf = (content: unknown, enc: (typeof contentEncryptions)[number]) =>
  encrypt(utf8(typeof content === 'string' ? content : JSON.stringify(content)), {
    recipients: [recipientOf(theirs.toString())],
    enc,
  })

describe('the SDK opens our', () => {
  test('authcrypt, with every header, and attachments in either form', async () => {
    const message = await agent.mercury.unpackMessage(ourAuthcrypt())
    expect(message).toMatchObject(letterThere())
    expect(
      message.attachments.map(({ id, format, payload }) => ({ id, format, payload: payload as unknown })),
    ).toEqual([
      { id: 'text', format: 'prism/jwt', payload: '~?>ÿ' },
      { id: 'value', format: 'prism/jwt', payload: { a: [1] } },
    ])
  })

  test.each(contentEncryptions)('anoncrypt by %s', async (enc) => {
    const envelope = packAnoncrypt(letter(), { recipients: [recipientOf(theirs.toString())], enc })
    expect(await agent.mercury.unpackMessage(envelope)).toMatchObject(letterThere())
  })

  test.each(contentEncryptions)('anoncrypt by %s of authcrypt', async (enc) => {
    expect(await agent.mercury.unpackMessage(anoncryptOf(ourAuthcrypt(), enc))).toMatchObject(letterThere())
  })

  test.each(contentEncryptions)('anoncrypt by %s of what we signed', async (enc) => {
    expect(
      await agent.mercury.unpackMessage(anoncryptOf(signed(letter(), [ours.signer]), enc)),
    ).toMatchObject(letterThere())
  })

  test('anoncrypt of what we signed, but not when the signature is of another key', async () => {
    const jws = signed(letter(), [{ ...ours.signer, privateJwk: newPerson().signer.privateJwk }])
    await expect(agent.mercury.unpackMessage(anoncryptOf(jws, 'XC20P'))).rejects.toBeDefined()
  })

  test('authcrypt with a message of half a megabyte', async () => {
    const body = { content: 'x'.repeat(500_000) }
    const recipients = [recipientOf(theirs.toString())]
    const message = await agent.mercury.unpackMessage(
      packAuthcrypt({ ...letter(), body }, { sender: ours.sender, recipients }),
    )
    expect(message.body).toEqual(body)
  })

  test.each(['tag', 'ciphertext', 'iv'])(
    'authcrypt, but not after one changed bit of its %s',
    async (member) => {
      const envelope = JSON.parse(ourAuthcrypt()) as Record<string, string>
      const bytes = Buffer.from(envelope[member]!, 'base64url')
      bytes[0]! ^= 1
      await expect(
        agent.mercury.unpackMessage(JSON.stringify({ ...envelope, [member]: bytes.toString('base64url') })),
      ).rejects.toBeDefined()
    },
  )
})

describe('we open the SDK’s', () => {
  const attachments = [
    // Each as one of its protocols writes it: a request, a presentation, a forward.
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
      letter().type,
      from,
      DID.from(ours.did),
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
      findPrivateKey: async (kids) => (kids.includes(ours.sender.kid) ? ours.sender : undefined),
      resolve: async (did) => resolvePeerDid(did),
    })

  test('authcrypt, from the key that its DID has', async () => {
    const opened = await open(await agent.mercury.packMessage(message(theirs)))
    expect(opened).toMatchObject({
      senderKid: `${theirs.toString()}#key-1`,
      recipientKid: ours.sender.kid,
      authenticated: true,
      anonymous: false,
      message: {
        id: 'an-id',
        type: letter().type,
        from: theirs.toString(),
        to: [ours.did],
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

  test.each(['tag', 'ciphertext', 'iv'])(
    'authcrypt, but not after one changed bit of its %s',
    async (member) => {
      const envelope = JSON.parse(await agent.mercury.packMessage(message(theirs))) as Record<string, string>
      const bytes = Buffer.from(envelope[member]!, 'base64url')
      bytes[0]! ^= 1
      await expect(
        open(JSON.stringify({ ...envelope, [member]: bytes.toString('base64url') })),
      ).rejects.toMatchObject({
        type: 'error:DIDCommControllerError:UnpackingFailed',
      })
    },
  )
})
