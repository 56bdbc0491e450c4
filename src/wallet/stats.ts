/** Counts and sizes of a wallet. They are read from indexes, so that a large wallet does not block the others. */
import { statSync } from 'node:fs'
import { sql } from 'kysely'
import * as z from 'zod'
import { namesOf, writtenMethods } from '../definitions/did-names.ts'
import { definitions } from '../definitions/protocols.ts'
import type { Db } from '../foundation/storage/database.ts'
import { isSqlite } from '../foundation/storage/dialect.ts'
import { filesOf } from '../foundation/storage/files.ts'
import { readRowBytes } from '../foundation/storage/postgres/wallet-rows.ts'
import { readSharedBytes } from './quotas.ts'
import type { Wallet } from './wallet.ts'

const Count = z.int().min(0)
const Records = z
  .object({ total: Count, waiting: Count.describe('Records whose flow has not ended.') })
  .meta({ id: 'RecordCounts' })

export const WalletStats = z
  .object({
    walletId: z.guid(),
    bytes: z
      .object({
        file: Count.describe('The size of the wallet’s files on the disk, or of its rows in PostgreSQL.'),
        registry: Count.describe(
          'The size of the wallet’s schemas, credential definitions, presentation definitions and VDR entries.',
        ),
      })
      .meta({ id: 'WalletBytes' }),
    connections: Records,
    credentials: Records,
    proofs: Records,
    heldCredentials: Count.describe('Credentials that the wallet holds and can present.'),
    dids: z
      .object({ total: Count, published: Count })
      .meta({ id: 'DidCounts' })
      .describe(`DIDs with a managed document: ${namesOf(writtenMethods, 'and')}.`),
    messages: Count.describe('Basic messages.'),
    events: z
      .object({ total: Count, oldestAt: z.iso.datetime().optional() })
      .meta({ id: 'EventCounts' })
      .describe('Events in the log, which keeps them for EVENT_RETENTION.'),
    jobs: z
      .object({ total: Count, oldestAt: z.iso.datetime().optional() })
      .meta({ id: 'JobCounts' })
      .describe('Messages to send and tasks to run.'),
    webhooks: Count,
    limits: z
      .object({ records: Count.optional(), bytes: Count.optional() })
      .meta({ id: 'WalletLimits' })
      .describe('RECORDS_PER_WALLET and BYTES_PER_WALLET, if they are set.'),
  })
  .meta({ id: 'WalletStats' })
export type WalletStats = z.infer<typeof WalletStats>

export async function readStats(wallet: Wallet, path: string): Promise<WalletStats> {
  const { RECORDS_PER_WALLET: records, BYTES_PER_WALLET: bytes } = wallet.env.config
  const [counts, ...byProtocol] = await Promise.all([
    readCounts(wallet.db),
    ...definitions.map(({ name }) => countRecords(wallet.db, name)),
  ])
  const [connections, credentials, proofs] = byProtocol
  return {
    walletId: wallet.id,
    bytes: {
      file: isSqlite(wallet.db) ? sizeOf(path) : await readRowBytes(wallet.db),
      registry: await readSharedBytes(wallet),
    },
    connections: connections!,
    credentials: credentials!,
    proofs: proofs!,
    ...counts,
    limits: { ...(records !== undefined && { records }), ...(bytes !== undefined && { bytes }) },
  }
}

async function countRecords(db: Db, protocol: string): Promise<z.infer<typeof Records>> {
  const { rows } = await sql<z.infer<typeof Records>>`
    select (select count(*) from record where protocol = ${protocol}) as total,
      (select count(*) from record where waits_since is not null and protocol = ${protocol}) as waiting`.execute(
    db,
  )
  return rows[0]!
}

type Row = Record<'held' | 'dids' | 'published' | 'messages' | 'events' | 'jobs' | 'webhooks', number> &
  Record<'event_at' | 'job_at', string | null>

async function readCounts(db: Db) {
  const { rows } = await sql<Row>`
    select (select count(*) from credential) as held,
      (select count(*) from did) as dids,
      (select count(*) from did where status = 'PUBLISHED') as published,
      (select count(*) from message) as messages,
      (select count(*) from event) as events,
      (select ts from event order by sequence limit 1) as event_at,
      (select count(*) from job) as jobs,
      (select created_at from job order by sequence limit 1) as job_at,
      (select count(*) from webhook where id <> 'global') as webhooks`.execute(db)
  const { held, dids, published, messages, events, event_at, jobs, job_at, webhooks } = rows[0]!
  return {
    heldCredentials: held,
    dids: { total: dids, published },
    messages,
    events: { total: events, ...(event_at !== null && { oldestAt: event_at }) },
    jobs: { total: jobs, ...(job_at !== null && { oldestAt: job_at }) },
    webhooks,
  }
}

/** The bytes of a database and its write-ahead log. */
function sizeOf(path: string): number {
  return filesOf(path).reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}
