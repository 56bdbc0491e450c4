/**
 * Which subjects of the OpenID provider may use which wallets: rows in `agent.db`, which every process reads
 * for each request.
 */
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb, AgentTx } from '../../foundation/storage/database.ts'
import type { Login } from './verify.ts'

/** The wallets of a subject, oldest permission first. */
export async function listPermittedWallets(db: AgentDb, { issuer, subject }: Login): Promise<string[]> {
  const rows = await db
    .selectFrom('wallet_permission')
    .select('wallet_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .orderBy('created_at')
    .orderBy('wallet_id')
    .execute()
  return rows.map(({ wallet_id: walletId }) => walletId)
}

/** Grants access to a wallet. Idempotent. @throws {Problem} `WalletNotFoundById` */
export function grantPermission(db: AgentDb, login: Login, walletId: string): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await assertWallet(tx, walletId)
    await insertPermission(tx, login, walletId)
  })
}

/** Inserts a permission for a wallet that exists. Idempotent. */
export async function insertPermission(
  tx: AgentTx,
  { issuer, subject }: Login,
  walletId: string,
): Promise<void> {
  await tx
    .insertInto('wallet_permission')
    .values({ issuer, subject, wallet_id: walletId, created_at: new Date().toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Revokes access to a wallet. @throws {Problem} `WalletNotFoundById`, `PermissionNotFoundById` */
export function revokePermission(db: AgentDb, { issuer, subject }: Login, walletId: string): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await assertWallet(tx, walletId)
    const { numDeletedRows } = await tx
      .deleteFrom('wallet_permission')
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .where('wallet_id', '=', walletId)
      .executeTakeFirst()
    if (numDeletedRows === 0n)
      throw new Problem(
        'error:PermissionManagementServiceError:PermissionNotFoundById',
        `The subject ${subject} has no permission for the wallet ${walletId}.`,
      )
  })
}

async function assertWallet(tx: AgentTx, id: string): Promise<void> {
  const wallet = await tx.selectFrom('wallet').select('id').where('id', '=', id).executeTakeFirst()
  if (!wallet) throw walletNotFoundById(id)
}

/** For a tenant, the wallets of others do not exist. */
export function walletNotFoundById(id: string): Problem {
  return new Problem('error:PermissionManagementServiceError:WalletNotFoundById', `There is no wallet ${id}.`)
}
