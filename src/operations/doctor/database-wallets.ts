/**
 * Checks that the key of each wallet in PostgreSQL unseals the seed in its rows. It reads all wallets, of all
 * nodes.
 */
import type { Config } from '../../foundation/config/config.ts'
import { DamagedFileError } from '../../foundation/storage/file-errors.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { openAgent, openWallet } from '../../foundation/storage/postgres/databases.ts'
import { findAgentKey } from '../../wallet/agent-key.ts'
import { readSeed, unwrapWalletKey } from '../../wallet/wallet-file.ts'
import type { Finding } from './check.ts'
import type { Database } from './database.ts'
import { deepLimitMs } from './database-files.ts'

const batchSize = 100

type Row = { id: string; wrapped_key: string }

/** Reads wallets in batches for about `timeMs`. */
export async function checkWalletRows(
  { connections }: Database,
  config: Config,
  timeMs = deepLimitMs - 10_000,
): Promise<Finding> {
  const until = performance.now() + timeMs
  const db = openAgent(connections)
  const opened = await findAgentKey(config, db)
  if (!opened) return { status: 'ok', detail: 'There are no wallets yet.' }
  const { agentKey } = opened
  const damaged: string[] = []
  let [checked, last] = [0, '']
  try {
    for (;;) {
      const rows = await readBatch(db, last)
      if (rows.length === 0) break
      if (performance.now() > until)
        return toFinding(damaged, `${checked} wallets were checked in the time; those after ${last} were not`)
      const results = rows.map(async (row) => ((await isSound(row)) ? [] : [row.id]))
      damaged.push(...(await Promise.all(results)).flat())
      checked += rows.length
      last = rows.at(-1)!.id
    }
  } finally {
    agentKey.fill(0)
  }
  return toFinding(damaged, `${checked} ${checked === 1 ? 'wallet was' : 'wallets were'} checked`)

  async function isSound({ id, wrapped_key: wrapped }: Row): Promise<boolean> {
    const rows = openWallet(connections, id)
    let key: Uint8Array
    try {
      key = unwrapWalletKey(agentKey, id, wrapped)
    } catch {
      return false
    }
    try {
      ;(await readSeed(rows, id, '', key)).fill(0)
      return true
    } catch (error) {
      if (error instanceof DamagedFileError) return false
      throw error
    } finally {
      key.fill(0)
    }
  }
}

function readBatch(db: AgentDb, last: string): Promise<Row[]> {
  const wallets = db.selectFrom('wallet').select(['id', 'wrapped_key']).where('moved_at', 'is', null)
  return wallets.where('id', '>', last).orderBy('id').limit(batchSize).execute()
}

function toFinding(damaged: readonly string[], read: string): Finding {
  const [first] = damaged
  if (first === undefined) return { status: 'ok', detail: `${read}, and the key of each unseals its seed.` }
  const others = damaged.length > 1 ? ` and of ${damaged.length - 1} more` : ''
  return {
    status: 'failed',
    detail: `The seed of the wallet ${first}${others} is missing, or its key does not unseal it (${read}).`,
    hint: 'agent daemon stop   # on all nodes; then restore the database from a dump of the time before',
  }
}
