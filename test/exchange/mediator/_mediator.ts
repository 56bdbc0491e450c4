/** A mediator in a temporary folder with a settable clock, and wallets that use this agent's packing. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig, type Config } from '../../../src/foundation/config/config.ts'
import { openLog } from '../../../src/foundation/log.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../../src/did/peer.ts'
import { createResolver } from '../../../src/did/resolver.ts'
import { parseEnvelope } from '../../../src/exchange/didcomm/jwe.ts'
import {
  jsonAttachment,
  type Attachment,
  type PlaintextMessage,
} from '../../../src/exchange/didcomm/message.ts'
import { packAnoncrypt, packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { unpack, type Unpacked } from '../../../src/exchange/didcomm/unpack.ts'
import type { Channel } from '../../../src/exchange/mediator/pickup.ts'
import { openMediator, type Mediator } from '../../../src/exchange/mediator/mediator.ts'
import type { MediatorContents } from '../../../src/exchange/mediator/writes.ts'
import { openServedMediatorDb } from '../../../src/foundation/storage/database.ts'
import type { HttpClient } from '../../../src/foundation/net/http-client.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export const mediation2 = 'https://didcomm.org/coordinate-mediation/2.0'
export const mediation3 = 'https://didcomm.org/coordinate-mediation/3.0'
export const pickup = 'https://didcomm.org/messagepickup/3.0'
export const mediateRequest = `${mediation2}/mediate-request`
export const mediateGrant = `${mediation2}/mediate-grant`
export const trustPing = 'https://didcomm.org/trust-ping/2.0/ping'
export const forwardType = 'https://didcomm.org/routing/2.0/forward'
export const problemReport = 'https://didcomm.org/report-problem/2.0/problem-report'

export const resolve = createResolver({ getState: () => Promise.resolve(undefined) }).document

/** The key that messages for a DID are encrypted to. */
export function keyOf(did: string) {
  const { id: kid, publicKeyJwk: publicJwk } = keysFor(resolvePeerDid(did), 'keyAgreement')[0]!
  return { kid, publicJwk }
}

/** An anonymous message to a DID. */
export function packFor(did: string, message: Partial<PlaintextMessage> & { type: string }): string {
  return packAnoncrypt({ id: randomUUID(), to: [did], body: {}, ...message }, { recipients: [keyOf(did)] })
}

/** The parts of a forward. The default attachment is the packed message as JSON. */
export function forwardOf(next: string, packed: string, attachments?: Attachment[]) {
  const { format: _format, ...attachment } = jsonAttachment(randomUUID(), JSON.parse(packed), '')
  return { type: forwardType, body: { next }, attachments: attachments ?? [attachment] }
}

export type TestWallet = ReturnType<typeof newWallet>

/** A wallet with one DID. Without `serviceUri`, only a mediator can reach it. */
export function newWallet(serviceUri: string | string[] = []) {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    serviceUri,
  })
  const own = { kid: keyOf(did).kid, privateJwk: keyAgreement }
  return {
    did,
    own,
    /** Encrypts for a DID, with `return_route: all` by default. */
    pack(to: string, { type, ...parts }: Partial<PlaintextMessage> & { type: string }): string {
      const message = { id: randomUUID(), from: did, to: [to], body: {}, return_route: 'all', type, ...parts }
      return packAuthcrypt(message, { sender: own, recipients: [keyOf(to)] })
    },
    async open(packed: string): Promise<Unpacked> {
      return unpack(packed, {
        findPrivateKey: async (kids) => (kids.includes(own.kid) ? own : undefined),
        resolve,
      })
    },
  }
}

export type TestMediator = Awaited<ReturnType<typeof startMediator>>

const sealKey = new Uint8Array(32).fill(7)

export async function startMediator({
  url = 'http://mediator.example',
  wrap = (contents) => contents,
  ...config
}: Partial<Config> & { url?: string; wrap?: (contents: MediatorContents) => MediatorContents } = {}) {
  const folder = await temporaryFolder()
  /** The posted messages. */
  const posts: { url: string; body: string }[] = []
  const http = {
    async post(to: string, { body }: { body: string }) {
      posts.push({ url: to, body })
      return { status: 202 }
    },
  } as unknown as HttpClient
  let time = Date.parse('2026-01-01T00:00:00Z')
  const open = (at = url) =>
    openMediator({
      open: async () => wrap(await openServedMediatorDb(join(folder.path, 'mediator.db'))),
      sealKey,
      url: at,
      config: { ...readConfig({}), ...config },
      resolve,
      http,
      log: openLog('silent'),
      now: () => time,
    })
  let mediator: Mediator = await open()

  let address = '192.0.2.1'
  const take = (packed: string, channel?: Channel) =>
    mediator.receive(parseEnvelope(packed), { address, channel })

  return {
    posts,
    path: folder.path,
    get did() {
      return mediator.did
    },
    get mediator() {
      return mediator
    },
    advance(seconds: number) {
      time += seconds * 1_000
    },
    /** Sets the IP address of further messages. */
    moveTo(elsewhere: string) {
      address = elsewhere
    },
    async restart(at?: string) {
      await mediator[Symbol.asyncDispose]()
      mediator = await open(at)
    },
    take,
    /** Sends a message of a wallet and opens the reply. Undefined without a reply. */
    async ask(
      wallet: TestWallet,
      type: string,
      body: Record<string, unknown> = {},
      parts: Partial<PlaintextMessage> = {},
      channel?: Channel,
    ) {
      const answer = await take(wallet.pack(parts.to?.[0] ?? mediator.did, { ...parts, type, body }), channel)
      return answer === undefined ? undefined : (await wallet.open(answer)).message
    },
    /** Enrols a wallet with a new DID. */
    async enrolled(serviceUri?: string | string[]): Promise<TestWallet> {
      const wallet = newWallet(serviceUri)
      await this.ask(wallet, mediateRequest)
      return wallet
    },
    /** Registers a DID as a recipient of a wallet's account, or with `remove` unregisters it. */
    register(wallet: TestWallet, recipient_did: string, action = 'add') {
      return this.ask(wallet, `${mediation2}/keylist-update`, { updates: [{ recipient_did, action }] })
    },
    /** Acknowledges messages that a wallet has picked up. */
    acknowledge(wallet: TestWallet, message_id_list: string[]) {
      return this.ask(wallet, `${pickup}/messages-received`, { message_id_list })
    },
    /** Forwards a message to a DID anonymously. Returns the packed message for the recipient. */
    async forward(next: string, content = 'hello'): Promise<string> {
      const packed = packFor(next, {
        type: 'https://didcomm.org/basicmessage/2.0/message',
        body: { content },
      })
      await take(packFor(mediator.did, forwardOf(next, packed)))
      return packed
    },
    async [Symbol.asyncDispose]() {
      await mediator[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/**
 * Sends a basic message to a DID behind a mediator, again every 100 ms until the wallet announces one. A
 * wallet in live mode does not fetch earlier messages, and does not report when live mode begins.
 */
export async function sendUntil(
  arrived: Promise<unknown>,
  recipient: string,
  mediator: { did: string; url: string },
): Promise<void> {
  const sender = newWallet('http://127.0.0.1:1/')
  const message = { type: 'https://didcomm.org/basicmessage/2.0/message', body: { content: 'hello' } }
  for (let isOver = false; !isOver;) {
    const { status } = await fetch(mediator.url, {
      method: 'POST',
      headers: { 'content-type': 'application/didcomm-encrypted+json' },
      body: packFor(mediator.did, forwardOf(recipient, sender.pack(recipient, message))),
    })
    if (status !== 202) throw new Error(`the mediator answered with status ${status}`)
    isOver = await Promise.race([arrived.then(() => true), sleep(100, false)])
  }
}

/** The problem of a refusal. */
export async function refusalOf(promise: Promise<unknown>): Promise<Problem> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof Problem) return outcome
  throw outcome ?? new Error('it was not refused')
}

/** The packed messages of a delivery, by their ids. */
export function deliveredIn(message: PlaintextMessage | undefined): { id: string; packed: string }[] {
  return (message?.attachments ?? []).map(({ id, data }) => ({
    id: id!,
    packed: Buffer.from(data.base64!, 'base64url').toString(),
  }))
}
