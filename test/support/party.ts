/**
 * A DIDComm peer controlled by the test: a DID with its keys, a server, and the decrypted messages that it
 * received.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { encrypt, packAnoncrypt, packAuthcrypt, readForward } from '../../src/exchange/didcomm/pack.ts'
import { encryptedType, type PrivateKey } from '../../src/exchange/didcomm/jwe.ts'
import { writeMessage, type PlaintextMessage } from '../../src/exchange/didcomm/message.ts'
import { unpack, type Unpacked } from '../../src/exchange/didcomm/unpack.ts'
import { connectionIn, type Tenant } from './tenants.ts'
import { openReceiver } from './receiver.ts'

export type Message = Partial<PlaintextMessage> & Pick<PlaintextMessage, 'type'>

/** Encryption of a message: authcrypt; anoncrypt with a `from`; authcrypt with a `from` of another key. */
export type Seal = 'authcrypt' | 'anoncrypt' | 'forged authcrypt'

export type Party = {
  did: string
  own: PrivateKey
  /** The address of its server. */
  url: string
  /** The decrypted messages in order of arrival. */
  inbox: Unpacked[]
  /** The received envelopes in order of arrival. */
  envelopes: string[]
  /** The requests that brought them. */
  requests: readonly IncomingMessage[]
  /** Decrypts the received envelopes. */
  open(): Promise<void>
  /** Waits for the next message of a type. Returns each message once. */
  next(type: string): Promise<PlaintextMessage>
  /** Encrypts a message for a DID. */
  pack(to: string, message: Message, seal?: Seal): string
  /** Posts a message to the endpoint of a DID. Returns the status, and the detail of a refusal. */
  send(to: string, message: Message, seal?: Seal): Promise<{ status: number; detail?: string }>
  /** Connects by an invitation of the tenant, and waits for `state` at the tenant. */
  connect(tenant: Tenant, state?: string): Promise<{ connectionId: string; theirDid: string; thid: string }>
  [Symbol.asyncDispose](): Promise<void>
}

export type PartyOptions = {
  /** The service URIs in the DID, for example a mediator's DID. Default: the URL of the party's server. */
  uris?: (own: string) => string[]
  /** Sends the server's response. Default: 200. */
  answer?: (response: ServerResponse, count: number) => void
}

export const typesOf = {
  connectionRequest: 'https://atalaprism.io/mercury/connections/1.0/request',
  offer: 'https://didcomm.org/issue-credential/3.0/offer-credential',
  credentialRequest: 'https://didcomm.org/issue-credential/3.0/request-credential',
  credential: 'https://didcomm.org/issue-credential/3.0/issue-credential',
  presentationRequest: 'https://didcomm.atalaprism.io/present-proof/3.0/request-presentation',
}

export async function openParty({ uris = (own) => [own], answer }: PartyOptions = {}): Promise<Party> {
  const receiver = await openReceiver(answer, `/${randomUUID()}/`)
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const keys = { keyAgreement: toPublic(keyAgreement), authentication: toPublic(authentication) }
  const did = createPeerDid({ ...keys, serviceUri: uris(receiver.url) })
  const own = { kid: keysFor(resolvePeerDid(did), 'keyAgreement')[0]!.id, privateJwk: keyAgreement }
  const inbox: Unpacked[] = []
  const taken = new Set<Unpacked>()
  let opened = 0

  async function open(): Promise<void> {
    while (opened < receiver.bodies.length) inbox.push(await openWith(own, receiver.bodies[opened++]!))
  }

  const pack: Party['pack'] = (to, message, seal = 'authcrypt') => {
    const plaintext = { id: randomUUID(), from: did, to: [to], body: {}, ...message } as PlaintextMessage
    const recipients = [recipientOf(to)]
    if (seal === 'anoncrypt') return packAnoncrypt(plaintext, { recipients })
    if (seal === 'forged authcrypt')
      return encrypt(writeMessage(plaintext), { sender: own, recipients, enc: 'A256CBC-HS512' })
    return packAuthcrypt(plaintext, { sender: own, recipients })
  }

  const send: Party['send'] = async (to, message, seal) => post(addressOf(to), pack(to, message, seal))

  return {
    did,
    own,
    url: receiver.url,
    inbox,
    get envelopes() {
      return receiver.bodies
    },
    requests: receiver.requests,
    open,
    async next(type) {
      for (let attempt = 0; attempt < 5_000; attempt++) {
        await open()
        const found = inbox.find((entry) => entry.message.type === type && !taken.has(entry))
        if (found) {
          taken.add(found)
          return found.message
        }
        await sleep(10)
      }
      throw new Error(`no ${type} arrived; received ${inbox.map(({ message }) => message.type).join(', ')}`)
    },
    pack,
    send,
    async connect({ call }, state = 'ConnectionResponseSent') {
      const { connectionId, thid, invitation } = await call('POST /connections', { body: {} })
      const { status, detail } = await send(invitation.from, {
        type: typesOf.connectionRequest,
        thid,
        pthid: thid,
      })
      if (status !== 200) throw new Error(`the request was answered with ${status}: ${detail}`)
      await connectionIn(call, thid, state)
      return { connectionId, theirDid: invitation.from, thid }
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}

export type Mediator = Party & {
  /** Forwards messages for a DID to a URL. */
  serve(did: string, url: string): void
  /** The received forward messages in order. */
  forwards: { next: string; from: string | undefined }[]
}

/** A minimal mediator: decrypts forward messages and posts their attachments to the URL of `next`. */
export async function openMediator(options: PartyOptions = {}): Promise<Mediator> {
  const ways = new Map<string, string>()
  const forwards: Mediator['forwards'] = []
  const party = await openParty({
    ...options,
    answer: (response, count) =>
      void pass(count).then(
        (status) => response.writeHead(status).end(),
        () => response.writeHead(400).end(),
      ),
  })
  async function pass(count: number): Promise<number> {
    const { message } = await openWith(party.own, party.envelopes[count - 1]!)
    const { next, envelopes } = readForward(message)
    forwards.push({ next, from: message.from })
    const url = ways.get(next)
    if (url === undefined) return 404
    for (const envelope of envelopes) await post(url, JSON.stringify(envelope))
    return 202
  }
  return Object.assign(party, { forwards, serve: (did: string, url: string) => void ways.set(did, url) })
}

/** The key agreement key of a did:peer. */
export function recipientOf(did: string) {
  const { id: kid, publicKeyJwk: publicJwk } = keysFor(resolvePeerDid(did), 'keyAgreement')[0]!
  return { kid, publicJwk }
}

/** The first service URI of a did:peer. */
export function addressOf(did: string): string {
  return (resolvePeerDid(did).service![0]!.serviceEndpoint as { uri: string }).uri
}

export async function post(url: string, envelope: string): Promise<{ status: number; detail?: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': encryptedType },
    body: envelope,
  })
  const text = await response.text()
  return {
    status: response.status,
    ...(text.startsWith('{') && { detail: (JSON.parse(text) as { detail: string }).detail }),
  }
}

function openWith(own: PrivateKey, envelope: string): Promise<Unpacked> {
  return unpack(envelope, {
    findPrivateKey: (kids) => Promise.resolve(kids.includes(own.kid) ? own : undefined),
    resolve: (did) => Promise.resolve(resolvePeerDid(did)),
  })
}
