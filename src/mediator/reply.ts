/** Answers: what they are made of, and how they are packed. */
import { randomId } from '../base/id.ts'
import { didOf, keysFor, type Resolve } from '../did/document.ts'
import type { PlaintextMessage } from '../didcomm/message.ts'
import { packAuthcrypt } from '../didcomm/pack.ts'
import type { Identities } from './identity.ts'

/** An answer: parts of the plaintext message. */
export type Reply = Pick<PlaintextMessage, 'type' | 'body' | 'attachments' | 'thid' | 'pthid'>

/** The thread a message belongs to. */
export function threadOf({ id, thid }: PlaintextMessage): string {
  return thid ?? id
}

/** What packing needs; `now` in milliseconds since 1970. */
export type Packing = { resolve: Resolve; identities: Identities; now: () => number }

/**
 * Encrypts an answer from one of the mediator's DIDs for one key of the other side.
 *
 * One that belongs to no thread begins its own, and says so: some wallets cannot do without `thid`.
 */
export async function packReply(
  { resolve, identities, now }: Packing,
  from: string,
  kid: string,
  reply: Reply,
): Promise<string> {
  const to = didOf(kid)
  const publicJwk = keysFor(await resolve(to), 'keyAgreement').find(({ id }) => id === kid)?.publicKeyJwk
  if (!publicJwk) throw new Error(`${to.slice(0, 100)} has lost the key it wrote with`)
  const id = randomId()
  const thread = reply.pthid === undefined ? { thid: reply.thid ?? id } : {}
  const message = { id, from, to: [to], created_time: Math.floor(now() / 1_000), ...reply, ...thread }
  return packAuthcrypt(message, { sender: identities.sendingKey(from), recipients: [{ kid, publicJwk }] })
}
