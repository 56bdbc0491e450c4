/** A connected party: receives the messages and webhooks of the agent's wallets, and answers at once. */
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { createInvitation, toOob } from '../../src/exchange/didcomm/invitation.ts'
import type { PlaintextMessage } from '../../src/exchange/didcomm/message.ts'
import { unpack } from '../../src/exchange/didcomm/unpack.ts'
import { Event } from '../../src/wallet/events/event.ts'
import { startServer, withBody } from '../support/server.ts'
import type { Sender } from './_envelope.ts'
import { parse } from './_learn.ts'

/** The number of unanswered messages per type. The oldest are dropped. */
const kept = 20

export type Party = Sender & {
  /** A URL for webhooks. */
  sinkUrl: string
  /** Takes the newest unanswered message of a type. */
  take(type: string): PlaintextMessage | undefined
  /** Decrypts an envelope for the party. */
  open(envelope: string): Promise<PlaintextMessage>
  /** A new connection invitation. */
  invite(): string
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the party. `onEvent` receives every webhook event. */
export async function openParty(onEvent: (event: Event) => void): Promise<Party> {
  const inbox = new Map<string, PlaintextMessage[]>()
  const server = await startServer(
    withBody((text, { url }, response) => {
      response.end()
      // Requests with generated URLs arrive here too.
      const event = url === '/events' ? Event.safeParse(parse(text)).data : undefined
      if (event) onEvent(event)
      else if (url === '/didcomm') keep(open(text))
    }),
  )
  const { url } = server
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    serviceUri: `${url}/didcomm`,
  })
  const kidOf = (purpose: 'keyAgreement' | 'authentication') => keysFor(resolvePeerDid(did), purpose)[0]!.id
  const own = { kid: kidOf('keyAgreement'), privateJwk: keyAgreement }

  async function open(envelope: string): Promise<PlaintextMessage> {
    const { message } = await unpack(envelope, {
      findPrivateKey: (kids) => Promise.resolve(kids.includes(own.kid) ? own : undefined),
      resolve: (theirs) => Promise.resolve(resolvePeerDid(theirs)),
    })
    return message
  }

  function keep(opened: Promise<PlaintextMessage>): void {
    opened.then(
      (message) => inbox.set(message.type, [...(inbox.get(message.type) ?? []).slice(1 - kept), message]),
      () => undefined,
    )
  }

  let invitations = 0
  return {
    did,
    own,
    signing: { kid: kidOf('authentication'), privateJwk: authentication },
    sinkUrl: `${url}/sink`,
    take: (type) => inbox.get(type)?.pop(),
    open,
    invite: () =>
      toOob(createInvitation({ id: `invitation-${++invitations}`, from: did, goalCode: 'connect' })),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
