/**
 * Short links, `<REST base>/i?_oobid=<id>`: the URLs by which others retrieve an invitation, a DID request or
 * a challenge of a wallet (DIDComm Out-of-Band 2.0, "Short URL Message Retrieval"), and `<REST base>/o/<id>`,
 * by which they retrieve a credential offer.
 *
 * An id is 16 characters of base64url, because every character makes the QR code larger: a wallet token
 * (`wallet-tokens.ts`) is more than three times as long. Its 12 bytes are 8 random bytes and the wallet's
 * number (4 bytes), of which each part is masked with HMAC-SHA-256 of the other, as RSA-OAEP does (RFC 8017
 * §7.1.1). The key is derived from the agent key. So
 *
 * - the agent finds the wallet without a table of all links;
 * - two ids of one wallet cannot be linked, and reveal nothing about the number of wallets;
 * - a guess must hit the 64 random bits of a link that is open, in the one wallet that it selects: all 16
 *   characters are compared;
 * - a changed id selects a random one of 2³² numbers, so that nobody can derive an id that another wallet, or
 *   any, is searched for.
 *
 * A row of the wallet decides whether the link is open. The id of a deleted row still selects the wallet.
 *
 * After the import of a wallet, the ids that its previous agent made are rows of `wallet_alias`.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { fromBase64, toBase64url } from '../foundation/bytes.ts'
import { deriveSealKey } from '../foundation/seal.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { prepared } from '../foundation/storage/prepared.ts'
import type { WalletTokens } from './wallet-tokens.ts'
import type { Wallet } from './wallet.ts'

export type ShortLinks = {
  /** Makes an id for the wallet with this number. Every call returns a different one. */
  create(walletNumber: number): string
  /** The id of the wallet that a short link was made for, here or by the previous agent of an imported wallet. */
  findWalletId(id: string): Promise<string | undefined>
}

const [randomLength, numberLength] = [8, 4]

const walletByNumber = prepared((db: AgentDb, { number }: { number: number }) =>
  db.selectFrom('wallet').select('id').where('number', '=', number),
)

export function createShortLinks(
  agentKey: Uint8Array,
  db: AgentDb,
  { findAlias }: Pick<WalletTokens, 'findAlias'>,
): ShortLinks {
  const key = deriveSealKey(agentKey, 'short-links')
  return {
    create: (walletNumber) => toShortId(key, walletNumber, randomBytes(randomLength)),
    async findWalletId(id) {
      const number = toWalletNumber(key, id)
      if (number === undefined) return undefined
      const { rows } = await walletByNumber(db, { number })
      return rows[0]?.id ?? (await findAlias('short-link', id))
    },
  }
}

/** A new short link to something of a wallet: its id, to be stored in the same transaction, and its URL. */
export function newShortLink({ env, number }: Wallet): { shortId: string; shortUrl: string } {
  const shortId = env.shortLinks.create(number)
  return { shortId, shortUrl: toShortUrl(env.urls.rest, shortId) }
}

/** The URL of a short link; `base` is the public base URL of the HTTP API. */
export function toShortUrl(base: string, id: string): string {
  return `${base}/i?_oobid=${id}`
}

function toShortId(key: Uint8Array, walletNumber: number, random: Uint8Array): string {
  const number = Buffer.alloc(numberLength)
  number.writeUInt32BE(walletNumber)
  const maskedNumber = mask(key, random, number)
  return toBase64url(Buffer.concat([mask(key, maskedNumber, random), maskedNumber]))
}

/** Undefined for a text that is not 16 characters of base64url. */
function toWalletNumber(key: Uint8Array, id: string): number | undefined {
  if (!/^[\w-]{16}$/.test(id)) return undefined
  const bytes = fromBase64(id)
  const maskedNumber = bytes.subarray(randomLength)
  const random = mask(key, maskedNumber, bytes.subarray(0, randomLength))
  return Buffer.from(mask(key, random, maskedNumber)).readUInt32BE()
}

/** Bytes XOR the HMAC of `seed`. Seeds of both parts differ in length. */
function mask(key: Uint8Array, seed: Uint8Array, bytes: Uint8Array): Uint8Array {
  const digest = createHmac('sha256', key).update(seed).digest()
  return bytes.map((byte, index) => byte ^ digest[index]!)
}
