/**
 * Limits that the operator sets: records and bytes of a wallet, and replies to strangers.
 *
 * Wallet quotas apply to requests of the tenant and to incoming messages, which begin something new. Tasks and deletions always run.
 */
import { sql } from 'kysely'
import { createRateLimiter } from '../base/rate-limiter.ts'
import { Problem } from '../base/problem.ts'
import type { Db, Tx } from '../storage/database.ts'
import { isSqlite } from '../storage/dialect.ts'
import { readRowBytes } from '../storage/postgres/wallet-rows.ts'
import type { Wallet } from './wallet.ts'

type Usage = { records: number; bytes: number }

/** The part of the bytes of a wallet that others can use. They must not take the tenant's room. */
const shareOfOthers = 0.9

/**
 * The wallet with transactions that roll back when they exceed a quota.
 *
 * @param of who sends the request: the tenant, or others, such as senders of messages and whoever has a link
 * @throws {Problem} 507, from `transaction`
 */
export function withQuotas(wallet: Wallet, of: 'tenant' | 'others' = 'tenant'): Wallet {
  const { RECORDS_PER_WALLET: maxRecords, BYTES_PER_WALLET: bytes } = wallet.env.config
  if (maxRecords === undefined && bytes === undefined) return wallet
  const maxBytes = bytes === undefined || of === 'tenant' ? bytes : Math.floor(bytes * shareOfOthers)
  return {
    ...wallet,
    async transaction(write, options) {
      const sharedBytes = maxBytes === undefined ? 0 : await readSharedBytes(wallet)
      return wallet.transaction(async (tx) => {
        const before = await readUsage(tx, maxBytes)
        const result = await write(tx)
        const after = await readUsage(tx, maxBytes)
        // A wallet above its quota, which may have been lowered, may still write what does not make it larger.
        if (maxRecords !== undefined && after.records > Math.max(maxRecords, before.records))
          throw tooManyRecords(maxRecords)
        if (maxBytes !== undefined && after.bytes > Math.max(maxBytes - sharedBytes, before.bytes))
          throw tooManyBytes(maxBytes)
        return result
      }, options)
    },
  }
}

/** Writes what is of use, and not necessary, unless a quota forbids it. */
export async function writeIfRoom(wallet: Wallet, write: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await wallet.transaction(write)
  } catch (error) {
    if (!(error instanceof Problem && error.type === tooManyBytesType)) throw error
  }
}

/** Call it before `size` bytes of a wallet are written to agent.db, which its transactions do not measure. @throws {Problem} 507 */
export async function assertByteQuota(wallet: Wallet, size: number): Promise<void> {
  const { BYTES_PER_WALLET: maxBytes } = wallet.env.config
  if (maxBytes === undefined) return
  const { bytes } = await readUsage(wallet.db, maxBytes)
  if (bytes + (await readSharedBytes(wallet)) + size > maxBytes) throw tooManyBytes(maxBytes)
}

/** The records and bytes of a wallet: of the file without free pages, or of the rows. The bytes of rows are read only if there is a limit. */
async function readUsage(db: Db, maxBytes: number | undefined): Promise<Usage> {
  if (!isSqlite(db)) {
    const { count } = await db
      .selectFrom('record')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return { records: count, bytes: maxBytes === undefined ? 0 : await readRowBytes(db) }
  }
  const { rows } = await sql<Usage>`
    select (select count(*) from record) as records,
      (select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, pragma_page_size) as bytes`.execute(
    db,
  )
  return rows[0]!
}

/** The bytes of a wallet's rows in agent.db. */
export async function readSharedBytes({ id, env }: Wallet): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (select coalesce(sum(length(schema) + length(description) + length(tags) + coalesce(length(proof), 0)), 0)
        from credential_schema where wallet_id = ${id})
      + (select coalesce(sum(length(attributes) + coalesce(length(definition) + length(key_correctness_proof), 0)), 0)
        from credential_definition where wallet_id = ${id})
      + (select coalesce(sum(length(definition)), 0) from presentation_definition where wallet_id = ${id})
      + (select coalesce(sum(length(content)), 0) from vdr_entry where wallet_id = ${id})
      + (select coalesce(sum(length(id) + length(schema_id) + length(claims)), 0)
        from credential_configuration where wallet_id = ${id}) as bytes`.execute(env.db)
  return rows[0]!.bytes
}

function tooManyRecords(limit: number): Problem {
  return new Problem(
    'error:WalletManagementServiceError:TooManyRecords',
    `The wallet has reached its limit of ${limit} records of connections, credentials and proofs (RECORDS_PER_WALLET). Delete some first.`,
  )
}

const tooManyBytesType = 'error:WalletManagementServiceError:TooManyBytes'

function tooManyBytes(limit: number): Problem {
  return new Problem(
    tooManyBytesType,
    `The wallet would exceed its limit of ${limit} bytes (BYTES_PER_WALLET). Delete something first.`,
  )
}

/** Counts a request for an offer that is remembered for some minutes. @throws {Problem} 429 when there are too many. */
export type OfferLimit = (recordId: string) => Promise<void>

/** Limits what whoever has an offer makes the wallet remember: answers on the consent page, and DPoP proofs, each of which is used once. */
export function createOfferLimit(perMinute = 30): OfferLimit {
  const limit = createRateLimiter(perMinute, 60)
  return async (recordId) => {
    const retryAfter = await limit(recordId)
    if (retryAfter === undefined) return
    const detail = `The agent takes ${perMinute} requests of this kind for one offer a minute. Try again in ${retryAfter} seconds.`
    throw new Problem('TooManyRequests', detail, { retryAfter })
  }
}

/** Counts a reply to a stranger. @throws {Problem} 429 when there are too many. */
export type ReplyLimit = (message: { address?: string; to: string }) => Promise<void>

/**
 * Limits the replies to messages without a connection: trust pings, and requests for an invitation that is used or has expired.
 *
 * Each reply is a call to an address that the sender chooses, and a sender can make any number of DIDs. So replies are counted by the
 * sender's network address and by the DID of the invitation (`to`).
 */
export function createReplyLimit(perMinute: number): ReplyLimit {
  const [byAddress, byInvitation] = [createRateLimiter(perMinute, 60), createRateLimiter(perMinute, 60)]
  return async ({ address = '', to }) => {
    const retryAfter = (await byAddress(address)) ?? (await byInvitation(to))
    if (retryAfter === undefined) return
    const detail = `The agent answers ${perMinute} messages per minute without a connection (INVITATION_REPLIES_PER_MINUTE). Try again in ${retryAfter} seconds.`
    throw new Problem('TooManyRequests', detail, { retryAfter })
  }
}
