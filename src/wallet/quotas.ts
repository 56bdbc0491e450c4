/**
 * What a wallet may keep, where the operator has set a limit (ours): records, and bytes.
 *
 * Quotas hold for what begins something: a tenant's requests, and messages from others. What was begun goes on to its end; and nobody needs room
 * to remove something.
 */
import { sql } from 'kysely'
import { Problem } from '../base/problem.ts'
import type { Db } from '../storage/database.ts'
import type { Wallet } from './wallet.ts'
import { createPace } from '../base/pace.ts'

type Use = { records: number; bytes: number }

/** A wallet whose transactions are taken back, as a whole, when they make it larger than it may be. @throws {Problem} 507, from `transaction` */
export function withQuotas(wallet: Wallet): Wallet {
  const { RECORDS_PER_WALLET: records, BYTES_PER_WALLET: bytes } = wallet.env.config
  if (records === undefined && bytes === undefined) return wallet
  return {
    ...wallet,
    async transaction(write, options) {
      const shared = bytes === undefined ? 0 : await sharedBytes(wallet)
      return wallet.transaction(async (tx) => {
        const before = await measure(tx)
        const written = await write(tx)
        const after = await measure(tx)
        if (records !== undefined && after.records > Math.max(records, before.records))
          throw tooManyRecords(records)
        if (bytes !== undefined && after.bytes > Math.max(bytes - shared, before.bytes))
          throw tooManyBytes(bytes)
        return written
      }, options)
    },
  }
}

/** Makes sure that a wallet may keep `size` more bytes where it shares a file with others. @throws {Problem} 507 */
export async function mustHaveRoom(wallet: Wallet, size: number): Promise<void> {
  const { BYTES_PER_WALLET: bytes } = wallet.env.config
  if (bytes === undefined) return
  const own = await measure(wallet.db)
  if (own.bytes + (await sharedBytes(wallet)) + size > bytes) throw tooManyBytes(bytes)
}

/** What the file of a wallet holds; pages that were freed do not count, whatever the size of the file. */
async function measure(db: Db): Promise<Use> {
  const { rows } = await sql<Use>`
    select (select count(*) from record) as records,
      (select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, pragma_page_size) as bytes`.execute(
    db,
  )
  return rows[0]!
}

/** What a wallet has in the agent's file. */
async function sharedBytes({ id, env }: Wallet): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (select coalesce(sum(length(schema) + length(description) + length(tags) + coalesce(length(proof), 0)), 0)
        from credential_schema where wallet_id = ${id})
      + (select coalesce(sum(length(attributes) + coalesce(length(definition) + length(key_correctness_proof), 0)), 0)
        from credential_definition where wallet_id = ${id})
      + (select coalesce(sum(length(definition)), 0) from presentation_definition where wallet_id = ${id}) as bytes`.execute(
    env.db,
  )
  return rows[0]!.bytes
}

function tooManyRecords(limit: number): Problem {
  return new Problem(
    'error:WalletManagementServiceError:TooManyRecords',
    `The wallet has ${limit} records of connections, credentials and proofs, the most it may have (RECORDS_PER_WALLET). Remove some first.`,
  )
}

function tooManyBytes(limit: number): Problem {
  return new Problem(
    'error:WalletManagementServiceError:TooManyBytes',
    `The wallet would have more than ${limit} bytes, the most it may have (BYTES_PER_WALLET). Remove something first.`,
  )
}

/** Counts a message for one of our DIDs. @throws {Problem} 429 when it is one too many. */
export type ReplyLimit = (message: { address?: string; to: string }) => Promise<void>

/** Lets each address, and each invitation, have `perMinute` answers. */
export function createReplyLimit(perMinute: number): ReplyLimit {
  const [byAddress, byInvitation] = [createPace(perMinute, 60), createPace(perMinute, 60)]
  return async ({ address = '', to }) => {
    const retryAfter = (await byAddress(address)) ?? (await byInvitation(to))
    if (retryAfter === undefined) return
    const detail = `${perMinute} messages in a minute are answered without a connection (INVITATION_REPLIES_PER_MINUTE). Come again in ${retryAfter} seconds.`
    throw new Problem('TooManyRequests', detail, { retryAfter })
  }
}
