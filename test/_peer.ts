/** The other side of a connection with a tenant, in the test's own hands: it says whatever the test wants. */
import { randomUUID } from 'node:crypto'
import { generateKey, toPublic } from '../src/crypto/keys.ts'
import { keysFor } from '../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../src/did/peer.ts'
import type { PlaintextMessage } from '../src/didcomm/message.ts'
import { packAuthcrypt } from '../src/didcomm/pack.ts'
import { connectionIn, type Tenant } from './_pair.ts'
import { openReceiver, type Receiver } from './_receiver.ts'

export type Peer = {
  connectionId: string
  /** Where the tenant's messages for the peer arrive. */
  receiver: Receiver
  /** Sends a message and gives the status and the problem's detail, if there is one. */
  send(message: Partial<PlaintextMessage> & Pick<PlaintextMessage, 'type'>): Promise<{ status: number; detail: string | undefined }>
  [Symbol.asyncDispose](): Promise<void>
}

export const typesOf = {
  connectionRequest: 'https://atalaprism.io/mercury/connections/1.0/request',
  offer: 'https://didcomm.org/issue-credential/3.0/offer-credential',
  credentialRequest: 'https://didcomm.org/issue-credential/3.0/request-credential',
  credential: 'https://didcomm.org/issue-credential/3.0/issue-credential',
  presentationRequest: 'https://didcomm.atalaprism.io/present-proof/3.0/request-presentation',
}

/** Connects a peer with a tenant; `serviceUri` is another address than that of a receiver which takes everything. */
export async function connectPeer({ call }: Tenant, serviceUri?: string): Promise<Peer> {
  const receiver = await openReceiver()
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    serviceUri: serviceUri ?? receiver.url,
  })
  const made = await call('POST /connections', { body: {} })
  const to = made.invitation.from
  const { service } = resolvePeerDid(to)
  const { uri } = service![0]!.serviceEndpoint as { uri: string }
  const sender = { kid: keysFor(resolvePeerDid(did), 'keyAgreement')[0]!.id, privateJwk: keyAgreement }
  const { id: kid, publicKeyJwk: publicJwk } = keysFor(resolvePeerDid(to), 'keyAgreement')[0]!

  const send: Peer['send'] = async (message) => {
    const plaintext = { id: randomUUID(), from: did, to: [to], body: {}, ...message } as PlaintextMessage
    const response = await fetch(uri, {
      method: 'POST',
      headers: { 'content-type': 'application/didcomm-encrypted+json' },
      body: packAuthcrypt(plaintext, { sender, recipients: [{ kid, publicJwk }] }),
    })
    const text = await response.text()
    return { status: response.status, detail: text === '' ? undefined : (JSON.parse(text) as { detail: string }).detail }
  }

  const { status } = await send({ type: typesOf.connectionRequest, thid: made.thid, pthid: made.thid })
  if (status !== 200) throw new Error(`the connection request was answered with ${status}`)
  if (serviceUri === undefined) await connectionIn(call, made.thid, 'ConnectionResponseSent')
  return { connectionId: made.connectionId, receiver, send, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() }
}
