/** Gives a wallet that came in its place among the others. */
import { across } from '../base/probe.ts'
import { Problem } from '../base/problem.ts'
import type { AgentDb } from '../storage/database.ts'
import { toWalletDetail, type WalletDetail } from '../wallet/model.ts'
import { seedDigestOf, wrapWalletKey } from '../wallet/wallet-key.ts'
import { writeBelongings, type Belonging } from './belongings.ts'
import type { Parts } from './portable.ts'
import { writeTokens, type Token } from './tokens.ts'

/** `arrived` is the name of its file in `wallets.transit`, whole and closed. */
export type Arrived = {
  id: string
  name: string
  createdAt: string
  key: Uint8Array
  seed: Uint8Array
  arrived: string
}

/**
 * Makes a wallet known, and gives its file its place. A wallet that rests here and has the same id and seed is the same one: what came takes
 * its place.
 *
 * @throws {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed`, `BelongsToAnother`, `Conflict`
 */
export async function adopt(
  { db, agentKey, wallets, aliases, wake }: Parts,
  { id, name, createdAt, key, seed, arrived }: Arrived,
  { belongings, tokens }: { belongings: readonly Belonging[]; tokens: readonly Token[] },
): Promise<WalletDetail> {
  const seedDigest = seedDigestOf(agentKey, seed)
  const row = {
    id,
    name,
    seed_digest: seedDigest,
    wrapped_key: wrapWalletKey(agentKey, id, key),
    moved_at: null,
    arrived,
  }
  const makeKnown = (isHere: boolean) =>
    db.transaction().execute(async (tx) => {
      const now = new Date().toISOString()
      const written = isHere
        ? tx
            .updateTable('wallet')
            .set({ ...row, updated_at: now })
            .where('id', '=', id)
        : tx.insertInto('wallet').values({ ...row, created_at: createdAt, updated_at: now })
      const wallet = await written.returningAll().executeTakeFirstOrThrow()
      await writeBelongings(tx, id, belongings)
      await writeTokens(tx, id, tokens)
      return toWalletDetail(wallet)
    })
  if (tokens.length > 0) aliases.expect()
  const adopted = await wallets.inTurn(async () => {
    const isHere = await mayComeHere(db, id, seedDigest)
    // One after the other, and no backup in between.
    return wallets.alone(id, async () => {
      const wallet = await across('import-rows', { walletId: id }, () => makeKnown(isHere))
      await across('import-place', { walletId: id }, () => Promise.resolve(wallets.place(id, arrived)))
      return wallet
    })
  })
  wake(id)
  return adopted
}

/** Whether the wallet rests here. @throws {Problem} when it is here and works, or another has its id. */
async function mayComeHere(db: AgentDb, id: string, seedDigest: string): Promise<boolean> {
  const rows = await db
    .selectFrom('wallet')
    .select(['id', 'seed_digest', 'moved_at'])
    .where((eb) => eb.or([eb('id', '=', id), eb('seed_digest', '=', seedDigest)]))
    .execute()
  const twin = rows.find(({ seed_digest }) => seed_digest === seedDigest)
  if (twin && (twin.id !== id || twin.moved_at === null)) {
    const rests =
      twin.moved_at === null
        ? ''
        : `, and rests since it was exported. Import it under that id, or have it go on: agent wallet resume ${twin.id}`
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletSeed',
      `This wallet is here already: ${twin.id} has the same seed${rests}. Nothing was changed.`,
    )
  }
  if (!twin && rows.length > 0)
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletId',
      `Another wallet has the id ${id} here. Give the imported one another: its connections go on working. Nothing was changed.`,
    )
  return twin !== undefined
}
