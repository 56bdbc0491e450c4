/**
 * Mailboxes: the last part of the DIDComm address in a peer DID, by which a message finds its wallet.
 *
 * It is the wallet's id, sealed: nothing has to be looked up, a forged one does not open, and two of one
 * wallet do not look alike (decisions.md §4). 55 characters of base58, because it sits in QR codes and because
 * peers refuse `-` and `_` there (wire.md 11.1).
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../base/at-most.ts'
import { fromHex, toHex } from '../base/bytes.ts'
import { sealToken, unsealToken } from '../base/seal.ts'

/** Words that a common peer library replaces anywhere in a service block (wire.md pitfall 31). */
const mangled = /type|accept|routingKeys|serviceEndpoint|DIDCommMessaging/

/** Makes a mailbox for a wallet, never the same twice. */
export function newMailbox(key: Uint8Array, walletId: string): string {
  for (;;) {
    const token = sealToken(key, 'mailbox', fromHex(walletId.replaceAll('-', '')))
    if (!mangled.test(token)) return token
  }
}

/** How many mailboxes are known once they were opened: those to which a message came last. */
const max = 5_000

/** Makes what tells the id of the wallet that a mailbox was made for; nothing for a token that is not ours. */
export function createMailboxOpener(key: Uint8Array): (token: string) => string | undefined {
  const known = new LRUCache<string, string>(atMost(max))
  return (token) => {
    const kept = known.get(token)
    if (kept !== undefined) return kept
    const walletId = openMailbox(key, token)
    // What strangers make up does not drive others out.
    if (walletId !== undefined) known.set(token, walletId)
    return walletId
  }
}

function openMailbox(key: Uint8Array, token: string): string | undefined {
  const bytes = unsealToken(key, 'mailbox', token)
  return bytes?.length === 16
    ? toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined
}
