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
import type { AgentTables } from '../storage/agent-tables.ts'
import type { AgentDb } from '../storage/database.ts'
import type { Product } from '../enterprise/session.ts'

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

export type AliasKind = AgentTables['wallet_alias']['kind']

export type Aliases = {
  /** The wallet that was imported with a token; nothing for one that nobody knows. Where no wallet was imported, nothing is asked of the database. */
  find(kind: AliasKind, token: string): Promise<string | undefined>
  /** Is told before there are more of them. */
  expect(): void
}

/** The longest token that any agent gives out. */
const longest = 100

export async function openAliases(db: AgentDb): Promise<Aliases> {
  let areThere =
    (await db.selectFrom('wallet_alias').select('token').limit(1).executeTakeFirst()) !== undefined
  return {
    async find(kind, token) {
      if (!areThere || token === '' || token.length > longest) return undefined
      const found = db
        .selectFrom('wallet_alias')
        .select('wallet_id')
        .where('token', '=', token)
        .where('kind', '=', kind)
      return (await found.executeTakeFirst())?.wallet_id
    },
    expect: () => void (areThere = true),
  }
}

/** Makes an id for a list of a wallet, never the same twice; 55 characters of base58. */
export function newListId(key: Uint8Array, walletId: string): string {
  return sealToken(key, 'status-list', fromHex(walletId.replaceAll('-', '')))
}

/** The wallet that an id was made for; nothing for one that is not ours. */
export function openListId(key: Uint8Array, id: string): string | undefined {
  const bytes = unsealToken(key, 'status-list', id)
  return bytes?.length === 16
    ? toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined
}

/** Makes an id for a link of a wallet, never the same twice; about 55 characters of base58. */
export function newSubmissionId(key: Uint8Array, product: Product, walletId: string): string {
  return sealToken(key, product, fromHex(walletId.replaceAll('-', '')))
}

/** The wallet that an id was made for; nothing for one that is not ours, or was made for the other product. */
export function openSubmissionId(key: Uint8Array, product: Product, id: string): string | undefined {
  const bytes = unsealToken(key, product, id)
  return bytes?.length === 16
    ? toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined
}
