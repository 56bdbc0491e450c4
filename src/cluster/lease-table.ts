/** The statements of leases. Times are by the clock of the database. */
import { type Kysely, type Transaction, sql } from 'kysely'
import type { NodeTables } from '../foundation/storage/node-tables.ts'

export type NodeDb = Kysely<NodeTables>

export type NodeRow = {
  id: string
  name: string
  address: string
  release: string
  isDraining: boolean
  startedAt: Date
  /** Milliseconds until the lease ends; negative if it has ended. */
  remainingMs: number
}

export type ShardRow = { id: number; node: string | null; epoch: number }

/** The channel of changes of owners (`NOTIFY`). */
export const ownersChannel = 'agent_owners'

/** How long the row of a node stays after its lease has ended, so that `agent node list` shows it. */
const keepEndedSeconds = 600

const end = (leaseSeconds: number) => sql<Date>`now() + make_interval(secs => ${leaseSeconds})`

type Registration = Pick<NodeRow, 'id' | 'name' | 'address' | 'release'> & { leaseSeconds: number }

/**
 * Inserts the row of a node.
 *
 * @returns the node that runs under the same name, if there is one; nothing is inserted then
 */
export function register(db: NodeDb, { leaseSeconds, ...row }: Registration): Promise<NodeRow | undefined> {
  return db.transaction().execute(async (tx) => {
    await sql`lock table node in share row exclusive mode`.execute(tx)
    const running = (await readNodes(tx)).find(
      ({ name, remainingMs }) => name === row.name && remainingMs > 0,
    )
    if (running && running.id !== row.id) return running
    await tx.deleteFrom('node').where('name', '=', row.name).execute()
    await tx
      .insertInto('node')
      .values({ ...row, started_at: sql`now()`, expires_at: end(leaseSeconds) })
      .execute()
    await notifyOwners(tx)
    return undefined
  })
}

/** Extends the lease. @returns false if the row of the node is gone */
export async function renew(db: NodeDb, id: string, leaseSeconds: number): Promise<boolean> {
  const update = db
    .updateTable('node')
    .set({ expires_at: end(leaseSeconds) })
    .where('id', '=', id)
  return (await update.executeTakeFirst()).numUpdatedRows > 0n
}

/** All nodes, those whose lease has ended too, in the order of their names. */
export function readNodes(db: NodeDb | Transaction<NodeTables>): Promise<NodeRow[]> {
  return db
    .selectFrom('node')
    .select(['id', 'name', 'address', 'release', 'is_draining as isDraining', 'started_at as startedAt'])
    .select(
      sql<number>`cast(extract(epoch from expires_at - clock_timestamp()) * 1000 as double precision)`.as(
        'remainingMs',
      ),
    )
    .orderBy('name')
    .execute()
}

export function readShards(db: NodeDb): Promise<ShardRow[]> {
  return db.selectFrom('shard').select(['id', 'node', 'epoch']).orderBy('id').execute()
}

/**
 * Makes a node the owner of shards that have none, or one whose lease has ended. Waits for transactions under
 * way that have checked their claim of these shards. @returns the taken shards
 */
export function take(db: NodeDb, id: string, shards: readonly number[]): Promise<ShardRow[]> {
  return db.transaction().execute(async (tx) => {
    const running = tx
      .selectFrom('node')
      .select('node.id')
      .where('expires_at', '>', sql<Date>`clock_timestamp()`)
    const taken = await tx
      .updateTable('shard')
      .set({ node: id, epoch: sql`epoch + 1` })
      .where('shard.id', 'in', shards)
      .where((eb) => eb.or([eb('shard.node', 'is', null), eb('shard.node', 'not in', running)]))
      .returning(['shard.id', 'shard.node', 'shard.epoch'])
      .execute()
    if (taken.length > 0) await notifyOwners(tx)
    return taken
  })
}

/** Gives shards up, so that other nodes take them. */
export async function release(db: NodeDb, id: string, shards: readonly number[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('shard')
      .set({ node: null })
      .where('id', 'in', shards)
      .where('node', '=', id)
      .execute()
    await notifyOwners(tx)
  })
}

/** @returns false if no node has the name */
export async function setDraining(db: NodeDb, name: string, isDraining: boolean): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const update = tx.updateTable('node').set({ is_draining: isDraining }).where('name', '=', name)
    const { numUpdatedRows } = await update.executeTakeFirst()
    if (numUpdatedRows > 0n) await notifyOwners(tx)
    return numUpdatedRows > 0n
  })
}

/** Deletes the row of a node that stops, and gives up all its shards. */
export async function unregister(db: NodeDb, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.updateTable('shard').set({ node: null }).where('node', '=', id).execute()
    await tx.deleteFrom('node').where('id', '=', id).execute()
    await notifyOwners(tx)
  })
}

/** Deletes the rows of nodes that ended long ago without giving up their shards. */
export async function deleteEnded(db: NodeDb): Promise<void> {
  await db
    .deleteFrom('node')
    .where('expires_at', '<', sql<Date>`now() - make_interval(secs => ${keepEndedSeconds})`)
    .execute()
}

/** A larger difference is refused at a start: tokens and credentials have dates by the clock of a node. */
export const maxClockDifferenceMs = 60_000

/**
 * Milliseconds by which the clock of this machine is ahead of the database's; half of a round trip is the
 * error.
 */
export async function readClockDifference(db: NodeDb): Promise<number> {
  const before = Date.now()
  const { rows } = await sql<{
    ms: number
  }>`select cast(extract(epoch from clock_timestamp()) * 1000 as double precision) as ms`.execute(db)
  return (before + Date.now()) / 2 - rows[0]!.ms
}

const notifyOwners = (tx: Transaction<NodeTables>) => sql`select pg_notify(${ownersChannel}, '')`.execute(tx)
