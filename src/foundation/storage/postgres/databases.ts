/** The databases of an agent in PostgreSQL, with the types that the SQLite files have. */
import { Kysely, sql, type Transaction } from 'kysely'
import type { AgentTables } from '../agent-tables.ts'
import type { AuditTables } from '../audit-tables.ts'
import type { MediatorTables } from '../mediator-tables.ts'
import type { WalletTables } from '../wallet-tables.ts'
import type { Pools } from './connect.ts'
import { NotOwnerError } from '../not-owner-error.ts'
import { createPostgresDialect, type Opening } from './dialect.ts'
import { fencedCode } from './errors.ts'
import { agentNames, mediatorNames } from './shared-rows.ts'

/**
 * The right of a node to write to the wallets of a shard: its id, and the epoch since which it owns the
 * shard.
 */
export type Claim = { shard: number; node: string; epoch: number }

/**
 * Tables whose transactions run one at a time over all nodes, as those of a SQLite file do. The numbers are
 * keys of advisory locks.
 */
const locks = { agent: 1, audit: 2, mediator: 3, ledger: 4 }

/**
 * The first key of the advisory locks, which other programs in the same database are unlikely to use: `iden`
 * in ASCII.
 */
const lockSpace = 0x6964656e

function openShared<Tables>(
  { shared }: Pools,
  name: keyof typeof locks,
  tables: Record<string, string> = {},
): Kysely<Tables> {
  const opening: Opening = {
    name: `open-${name}`,
    expressions: 'pg_advisory_xact_lock($1, $2)',
    values: [lockSpace, locks[name]],
  }
  const dialect = createPostgresDialect(shared, {
    tables,
    openWrite: () => opening,
    openRead: () => undefined,
  })
  return new Kysely<Tables>({ dialect })
}

export const openAgent = (pools: Pools) => openShared<AgentTables>(pools, 'agent', agentNames)

export const openAudit = (pools: Pools) => openShared<AuditTables>(pools, 'audit')

/**
 * The tables of the mediator. A transaction of the node that has the role calls `enter`, which returns since
 * when it has the role: the epoch.
 */
export function openMediator(pools: Pools, walletId: string, claimOf: () => Claim) {
  const db = openShared<MediatorTables>(pools, 'mediator', mediatorNames)
  return {
    db,
    /** @throws {NotOwnerError} */
    async enter(tx: Transaction<MediatorTables>): Promise<number> {
      const { shard, node, epoch } = claimOf()
      try {
        await sql`select fence(${shard}, ${node}, ${epoch})`.execute(tx)
      } catch (error) {
        throw (error as { code?: string }).code === fencedCode ? new NotOwnerError(walletId) : error
      }
      return epoch
    },
    // A commit is on the disk when it returns.
    flush: () => Promise.resolve(),
    close: () => db.destroy(),
  }
}

export const openLedger = <Tables>(pools: Pools) => openShared<Tables>(pools, 'ledger')

const entering = (walletId: string): Opening => ({
  name: 'open-wallet',
  expressions: `set_config('app.wallet', $1, true)`,
  values: [walletId],
})

/**
 * The rows of a wallet. Each transaction that writes checks the claim.
 *
 * @throws {NotOwnerError} from a transaction, as `claimOf` does too
 */
export function openWallet(
  { wallets }: Pools,
  walletId: string,
  claimOf?: () => Claim,
): Kysely<WalletTables> {
  const enter = entering(walletId)
  const dialect = createPostgresDialect(wallets, {
    walletId,
    keyColumn: 'wallet_id',
    openRead: () => enter,
    openWrite() {
      if (!claimOf) return enter
      const { shard, node, epoch } = claimOf()
      return {
        name: 'open-wallet-to-write',
        expressions: `${enter.expressions}, fence($2, $3, $4)`,
        values: [walletId, shard, node, epoch],
      }
    },
  })
  return new Kysely<WalletTables>({ dialect })
}

/**
 * The rows of a wallet and the tables of the agent, by their names in PostgreSQL. A transaction must call
 * `enterAgent` before it writes to tables of the agent, and then end soon: no other one writes to them
 * meanwhile.
 */
export function openWalletAndAgent({ wallets }: Pools, walletId: string): Kysely<WalletTables & AgentTables> {
  const openWrite = () => entering(walletId)
  return new Kysely({ dialect: createPostgresDialect(wallets, { walletId, openWrite }) })
}

/** @throws {NotOwnerError} */
export async function enterAgent(
  tx: Transaction<WalletTables & AgentTables>,
  { shard, node, epoch }: Claim,
): Promise<Transaction<AgentTables>> {
  await sql`select fence(${shard}, ${node}, ${epoch}), pg_advisory_xact_lock(${lockSpace}, ${locks.agent})`.execute(
    tx,
  )
  return tx as Kysely<any> as Transaction<AgentTables>
}

/** The tables of nodes, without a lock. */
export function openNodes<Tables>({ nodes }: Pools): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: createPostgresDialect(nodes, { openWrite: () => undefined }) })
}
