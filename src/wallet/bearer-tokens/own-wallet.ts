/** A subject without a wallet creates one for itself, as in the Cloud Agent. */
import { sql } from 'kysely'
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb, AgentTx } from '../../foundation/storage/database.ts'
import { isSqlite } from '../../foundation/storage/dialect.ts'
import type { CreateWallet, WalletDetail } from '../model.ts'
import type { Wallets } from '../wallets.ts'
import { insertPermission, listPermittedWallets } from './permissions.ts'
import type { Login } from './verify.ts'

/**
 * Creates a wallet, and in the same transaction the permission of the subject.
 *
 * @throws {Problem} `TooManyPermittedWallet`, `DuplicatedWallet…`
 */
export async function createOwnWallet(
  { db, wallets }: { db: AgentDb; wallets: Wallets },
  login: Login,
  input: CreateWallet,
): Promise<WalletDetail> {
  // Before the file of a wallet is made.
  await assertNone(db, login)
  return wallets.create(input, async (tx, walletId) => {
    await lock(tx, login)
    await assertNone(tx, login)
    await insertPermission(tx, login, walletId)
  })
}

async function assertNone(db: AgentDb, login: Login): Promise<void> {
  const [walletId] = await listPermittedWallets(db, login)
  if (walletId === undefined) return
  throw new Problem(
    'error:WalletManagementServiceError:TooManyPermittedWallet',
    `A tenant has one wallet, and this one has ${walletId} already. Only the administrator creates others.`,
  )
}

/** Lets other nodes wait until the transaction ends. SQLite has one writer. */
async function lock(tx: AgentTx, { issuer, subject }: Login): Promise<void> {
  if (isSqlite(tx)) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${issuer} ${subject}`}, 0))`.execute(tx)
}
