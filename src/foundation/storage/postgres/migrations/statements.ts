/** Writes the statements of migrations, whose texts are those of SQLite, for PostgreSQL. */

/** Statements for tables that all tenants share. */
export const shared = (text: string): string[] => text.split(';').map(collate)

/** Statements for tables of wallets. */
export const ofWallets = (text: string): string[] =>
  text
    .split(';')
    .flatMap((statement) => withWallet(statement.trim()))
    .map(collate)

/**
 * Adds `wallet_id` to a statement: as a column with its policy to a table, and as the first column to a key
 * or an index.
 */
function withWallet(statement: string): string[] {
  const keyed = statement.replaceAll(
    /(primary key|unique|foreign key|references \w+|^\s*create (?:unique )?index \w+ on \w+) \(/g,
    '$1 (wallet_id, ',
  )
  const name = /create table (\w+)/.exec(statement)?.[1]
  if (name === undefined) return [keyed]
  const column = `wallet_id uuid not null default current_setting('app.wallet')::uuid`
  const own = `(wallet_id = current_setting('app.wallet')::uuid)`
  return [
    keyed.replace(/\(/, `(${column}, `),
    `alter table ${name} enable row level security`,
    `alter table ${name} force row level security`,
    `create policy own_wallet on ${name} using ${own} with check ${own}`,
  ]
}

/** Texts are compared byte by byte, as in SQLite. */
function collate(statement: string): string {
  return statement.replaceAll(/ text(?=[ ,)])/g, ' text collate "C"')
}
