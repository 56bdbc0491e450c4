/**
 * Limits that the operator sets: records and bytes of a wallet, and replies to strangers.
 *
 * Wallet quotas apply to requests of the tenant and to incoming messages, which begin something new. Tasks
 * and deletions always run.
 */
import { sql } from 'kysely'
import { createRateLimiter, type RateLimiter } from '../foundation/rate-limiter.ts'
import { Problem } from '../foundation/problem.ts'
import type { AgentDb, Db, Tx } from '../foundation/storage/database.ts'
import type { AgentTables } from '../foundation/storage/agent-tables.ts'
import { isSqlite } from '../foundation/storage/dialect.ts'
import { readRowBytes } from '../foundation/storage/postgres/wallet-rows.ts'
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
      if (options?.isBounded) return wallet.transaction(write, options)
      const sharedBytes = maxBytes === undefined ? 0 : await readSharedBytes(wallet)
      return wallet.transaction(async (tx) => {
        const before = await readUsage(tx, maxBytes)
        const result = await write(tx)
        const after = await readUsage(tx, maxBytes)
        // A wallet above its quota, which may have been lowered, may still write what does not make it
        // larger.
        if (maxRecords !== undefined && after.records > Math.max(maxRecords, before.records))
          throw tooManyRecords(maxRecords)
        if (maxBytes !== undefined && after.bytes > Math.max(maxBytes - sharedBytes, before.bytes))
          throw tooManyBytes(maxBytes)
        return result
      }, options)
    },
  }
}

/** Makes an optional write. It is left out if it would exceed BYTES_PER_WALLET. */
export async function writeIfRoom(wallet: Wallet, write: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await wallet.transaction(write)
  } catch (error) {
    if (!(error instanceof Problem && error.type === tooManyBytesType)) throw error
  }
}

/**
 * Call it before `size` bytes of a wallet are written to agent.db, which its transactions do not measure.
 *
 * @throws {Problem} 507
 */
export async function assertByteQuota(wallet: Wallet, size: number): Promise<void> {
  const { BYTES_PER_WALLET: maxBytes } = wallet.env.config
  if (maxBytes === undefined) return
  const { bytes } = await readUsage(wallet.db, maxBytes)
  if (bytes + (await readSharedBytes(wallet)) + size > maxBytes) throw tooManyBytes(maxBytes)
}

/** The issuers of OpenID4VCI of one wallet. */
const maxIssuers = 100

/** Call it before an issuer of a wallet is stored. @throws {Problem} 409 */
export async function assertIssuerQuota(tx: AgentDb, walletId: string): Promise<void> {
  const own = tx.selectFrom('credential_issuer').where('wallet_id', '=', walletId)
  const { count } = await own.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow()
  if (Number(count) < maxIssuers) return
  const detail = `The wallet has ${maxIssuers} issuers, the most it may have. Delete one first.`
  throw new Problem('Conflict', detail)
}

/**
 * The records and bytes of a wallet: of the file without free pages, or of the rows. The bytes of rows are
 * read only if there is a limit.
 */
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

/**
 * The columns of agent.db with texts of a tenant or texts that follow from them: all text columns of tables
 * whose rows a tenant makes. A row of `web_did` is left out, because its DID counts in the wallet.
 */
export const countedColumns = {
  credential_schema: [
    'guid',
    'position',
    'id',
    'author',
    'name',
    'version',
    'description',
    'resolution_method',
    'authored',
    'type',
    'schema',
    'tags',
    'proof',
  ],
  credential_definition: [
    'guid',
    'position',
    'id',
    'author',
    'name',
    'version',
    'description',
    'resolution_method',
    'authored',
    'tag',
    'schema_id',
    'attributes',
    'definition',
    'key_correctness_proof',
  ],
  presentation_definition: ['id', 'definition', 'created_at'],
  vdr_entry: ['id', 'content', 'created_at', 'updated_at'],
  credential_issuer: [
    'id',
    'authorization_server',
    'client_id',
    'client_secret',
    'certificate_id',
    'encryption_key',
    'created_at',
    'wallet_providers',
    'display',
    'log_in',
    'claims_secrets',
    'delivery_texts',
  ],
  credential_configuration: [
    'issuer_id',
    'id',
    'format',
    'schema_id',
    'vct',
    'certificate_id',
    'claims',
    'created_at',
    'key_attestation',
    'display',
    'issuing_did',
    'document',
    'claims_source',
    'settings',
    'access',
  ],
  credential_media: ['issuer_id', 'digest', 'media_type', 'content', 'created_at'],
  credential_type: ['issuer_id', 'configuration_id', 'document', 'created_at'],
} as const satisfies { [Table in keyof AgentTables]?: readonly (keyof AgentTables[Table])[] }

/** The bytes of a wallet's rows in agent.db. */
export async function readSharedBytes({ id, env }: Wallet): Promise<number> {
  const sums = Object.entries(countedColumns).map(([table, columns]) => {
    const lengths = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
    return sql`(select coalesce(sum(${sql.join(lengths, sql` + `)}), 0) from ${sql.table(table)} where wallet_id = ${id})`
  })
  const { rows } = await sql<{ bytes: number | string }>`select ${sql.join(sums, sql` + `)} as bytes`.execute(
    env.db,
  )
  return Number(rows[0]!.bytes)
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

/**
 * Counts a request for `counted`: the id of an offer, a configuration or a grant.
 *
 * @throws {Problem} 429 when there are too many.
 */
export type OfferLimit = (counted: string) => Promise<void>

/**
 * Limits what whoever has an offer makes the wallet remember: answers on the consent page, and DPoP proofs,
 * each of which is used once.
 */
export function createOfferLimit(perMinute = 30): OfferLimit {
  const detail = `The agent takes ${perMinute} requests of this kind for one offer a minute.`
  return refuseAbove(
    createRateLimiter(perMinute, 60),
    (retryAfter) => `${detail} Try again in ${retryAfter} seconds.`,
  )
}

/** Limits the credentials of a configuration that wallets may begin in a day without an offer. */
export function createOpenLimit(perDay = 1_000): OfferLimit {
  const detail = `The issuer issues ${perDay} of these credentials a day without an offer. Try again later.`
  return refuseAbove(createRateLimiter(perDay, 86_400, { isExact: true }), () => detail)
}

/** How often a grant is renewed in a day at most: once a minute. */
export const mostRenewals = 1_440

/** Counts a renewal of a grant, of which there may be `perDay`. @throws {Problem} 429 */
export type RenewalLimit = (grantId: string, perDay: number) => Promise<void>

/** Limits how often a wallet renews the credentials of a grant. A renewal costs a part of the day. */
export function createRenewalLimit(): RenewalLimit {
  const limit = createRateLimiter(mostRenewals, 86_400, { isExact: true })
  return async (grantId, perDay) => {
    const retryAfter = await limit(grantId, Math.floor(mostRenewals / perDay))
    if (retryAfter === undefined) return
    const detail = `A wallet renews these credentials at most ${perDay} times a day.`
    throw new Problem('TooManyRequests', detail, { retryAfter })
  }
}

function refuseAbove(limit: RateLimiter, detailOf: (retryAfter: number) => string): OfferLimit {
  return async (counted) => {
    const retryAfter = await limit(counted)
    if (retryAfter !== undefined) throw new Problem('TooManyRequests', detailOf(retryAfter), { retryAfter })
  }
}

/** Counts a reply to a stranger. @throws {Problem} 429 when there are too many. */
export type ReplyLimit = (message: { address?: string; to: string }) => Promise<void>

/**
 * Limits the replies to messages without a connection: trust pings, and requests for an invitation that is
 * used or has expired.
 *
 * Each reply is a call to an address that the sender chooses, and a sender can make any number of DIDs. So
 * replies are counted by the sender's network address and by the DID of the invitation (`to`).
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
