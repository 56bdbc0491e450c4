/** Sends a DIDComm message: pack for the other side, one POST to its endpoint (wire.md 1.2, decisions.md §4). */
import { z } from 'zod'
import { keysFor } from '../did/document.ts'
import type { DidDocument } from '../did/document.ts'
import { packAuthcrypt } from '../didcomm/pack.ts'
import type { Owing } from '../outbox/outbox.ts'
import { findPeerKey } from '../wallet/peer-dids.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** The message was not taken. `isFinal` when the other side said that it never will be (4xx). */
export class NotDelivered extends Error {
  override name = 'NotDelivered'
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.isFinal = isFinal
  }
}

/** The debt of a message. */
export type MessageDebt = Extract<Owing['debt'], { kind: 'message' }>

/** How long the other side has to take a message. */
const timeoutMs = 10_000

/**
 * Packs a message anew and delivers it once; the id is the same on every attempt.
 *
 * @throws {NotDelivered} when the other side cannot be reached, or answers anything but 2xx.
 */
export async function sendMessage(wallet: Wallet, id: string, { from, to, message }: MessageDebt): Promise<void> {
  const recipient = await wallet.env.resolver.document(to)
  const recipientKey = keysFor(recipient, 'keyAgreement')[0]
  const senderKeyId = keysFor(await wallet.env.resolver.document(from), 'keyAgreement')[0]?.id
  const sender = senderKeyId === undefined ? undefined : await findPeerKey(wallet, senderKeyId)
  const url = endpointOf(recipient)
  if (url === undefined) throw new NotDelivered(`The DID ${to} has no DIDComm service that is reached over HTTP.`, true)
  if (!recipientKey) throw new NotDelivered(`The DID ${to} has no key to encrypt for.`, true)
  if (!sender) throw new Error(`the wallet has no key for ${from}`)
  const created_time = Math.floor(Date.now() / 1_000)
  const plaintext = { id, typ: 'application/didcomm-plain+json', from, to: [to], created_time, ...message }
  const envelope = packAuthcrypt(plaintext, { sender, recipients: [{ kid: recipientKey.id, publicJwk: recipientKey.publicKeyJwk }] })
  await post(wallet, url, envelope)
}

async function post(wallet: Wallet, url: string, envelope: string): Promise<void> {
  const { status } = await wallet.env.http.post(url, {
    headers: { 'content-type': 'application/didcomm-encrypted+json' },
    body: envelope,
    timeoutMs,
  })
  if (status >= 200 && status < 300) return
  // 408 and 429 ask for another attempt; every other 4xx is the other side's last word.
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429
  throw new NotDelivered(`The endpoint of the other side answered ${status}.`, isFinal)
}

const Endpoint = z.union([z.string(), z.looseObject({ uri: z.string() }).transform(({ uri }) => uri)])

/** The address of a document's first DIDComm service that speaks HTTP, if it has one. */
export function endpointOf(document: DidDocument): string | undefined {
  const service = (document.service ?? []).find(({ type }) => [type].flat().includes('DIDCommMessaging'))
  const endpoints = z.array(Endpoint).safeParse([service?.serviceEndpoint ?? []].flat()).data ?? []
  return endpoints.find((endpoint) => /^https?:/.test(endpoint))
}
