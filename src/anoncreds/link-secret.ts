/**
 * A wallet's link secret: the number that is signed, blindly, in every AnonCreds credential of the wallet, and that binds them to it.
 *
 * It is made at first use and never changes. Whoever has it and a credential can prove with it, so that it is sealed like the seed.
 */
import type { Db, Tx } from '../storage/database.ts'
import type { Engine } from './engine.ts'

/** What is used of a wallet. */
type Keeper = {
  readonly id: string
  readonly db: Db
  readonly env: { readonly anoncreds: Engine }
  seal(context: string, text: string): string
  unseal(context: string, sealed: string): string
  transaction<T>(write: (tx: Tx) => Promise<T>): Promise<T>
}

const name = 'link-secret'

/** The wallet's link secret, decimal. */
export async function linkSecretOf(wallet: Keeper): Promise<string> {
  return (await read(wallet)) ?? make(wallet)
}

async function read(wallet: Keeper): Promise<string | undefined> {
  const row = await wallet.db
    .selectFrom('setting')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row && wallet.unseal(contextOf(wallet.id), row.value)
}

async function make(wallet: Keeper): Promise<string> {
  const value = wallet.seal(contextOf(wallet.id), await wallet.env.anoncreds.createLinkSecret())
  // Of two that were made at once, the first stays.
  await wallet.transaction((tx) =>
    tx
      .insertInto('setting')
      .values({ name, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  return (await read(wallet))!
}

function contextOf(walletId: string): string {
  return `${name}:${walletId}`
}
