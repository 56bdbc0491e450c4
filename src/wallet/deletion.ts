/**
 * Deletes wallets: the key, the rows and the files. The audit log keeps its entries.
 *
 * One transaction in agent.db deletes the key, which no copy of the wallet's file can be decrypted without,
 * and notes that the files must be removed. The next start completes a deletion that a crash interrupted.
 */
import type { Config } from '../foundation/config/config.ts'
import { across } from '../foundation/probe.ts'
import { Problem } from '../foundation/problem.ts'
import { emptyLog, type AgentDb, type AgentTx } from '../foundation/storage/database.ts'
import { walletNotFound } from '../foundation/storage/transferred.ts'
import type { Environment } from './environment.ts'
import { defaultId, type Tenants } from './tenants.ts'
import type { Wallets } from './wallets.ts'

/** The prefix of the setting that notes a deletion. */
const noted = 'deleted-wallet:'

type Parts = {
  db: AgentDb
  wallets: Wallets
  tenants: Tenants
  env: Pick<Environment, 'config' | 'entryMemory'>
  /** Makes the streams and the worker of a wallet notice the change. */
  wake: (walletId: string) => void
}

/**
 * Deletes a wallet with its tenant and the tenant's API keys. Its published schemas, credential
 * definitions and used type metadata stay, because issued credentials and other tenants refer to them.
 *
 * @throws {NotOwnerError}, {Problem} `WalletNotFound`; `Conflict` for the default wallet, and for one that
 * several tenants use
 */
export function deleteWallet({ db, wallets, tenants, env, wake }: Parts, id: string): Promise<void> {
  return wallets.serializeCreation(async () => {
    wallets.assertOwned(id)
    await tenants.keys.change(async (tx) => {
      await assertDeletable(tx, env.config, id)
      await deleteRows(tx, id)
    })
    await across('wallet-deletion', { walletId: id }, () => wallets.discard(id))
    env.entryMemory?.removeAll(id)
    wake(id)
    await db
      .deleteFrom('setting')
      .where('name', '=', noted + id)
      .execute()
    await emptyLog(db)
  })
}

/** Removes the contents of wallets whose deletion was interrupted, if this process owns them. */
export async function finishDeletions(
  { db, wallets }: Pick<Parts, 'db' | 'wallets'>,
  owns: (walletId: string) => boolean,
): Promise<void> {
  const rows = await db.selectFrom('setting').select('name').where('name', 'like', `${noted}%`).execute()
  for (const { name } of rows) {
    const id = name.slice(noted.length)
    if (!owns(id)) continue
    await wallets.discard(id)
    await db.deleteFrom('setting').where('name', '=', name).execute()
  }
}

async function assertDeletable(tx: AgentTx, config: Config, id: string): Promise<void> {
  const wallet = await tx.selectFrom('wallet').select('id').where('id', '=', id).executeTakeFirst()
  if (!wallet) throw walletNotFound(id)
  if (id === defaultId && config.DEFAULT_WALLET_ENABLED)
    throw new Problem(
      'Conflict',
      `The wallet ${id} is the default wallet, which the next start would create again. Start the agent with DEFAULT_WALLET_ENABLED=false first.`,
    )
  const entities = await tx.selectFrom('entity').select('id').where('wallet_id', '=', id).execute()
  if (entities.length > 1)
    throw new Problem(
      'Conflict',
      `${entities.length} tenants use the wallet ${id}: ${entities.map((entity) => entity.id).join(', ')}. Remove all but one first, or bind them to other wallets.`,
    )
}

async function deleteRows(tx: AgentTx, id: string): Promise<void> {
  const entities = tx.selectFrom('entity').select('id').where('wallet_id', '=', id)
  await tx
    .updateTable('api_key')
    .set({ revoked_at: new Date().toISOString() })
    .where('entity_id', 'in', entities)
    .where('revoked_at', 'is', null)
    .execute()
  for (const table of [
    'entity',
    'wallet_permission',
    'wallet_alias',
    'web_did',
    'presentation_definition',
    'vdr_entry',
    'credential_media',
    'credential_configuration',
    'credential_issuer',
  ] as const)
    await tx.deleteFrom(table).where('wallet_id', '=', id).execute()
  // A definition without a key would wait for ever for a wallet that generates it.
  await tx
    .deleteFrom('credential_definition')
    .where('wallet_id', '=', id)
    .where('definition', 'is', null)
    .execute()
  await tx.deleteFrom('wallet').where('id', '=', id).execute()
  await tx
    .insertInto('setting')
    .values({ name: noted + id, value: new Date().toISOString() })
    .execute()
}
