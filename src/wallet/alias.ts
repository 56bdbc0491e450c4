/** Aliases: tokens that another agent gave out for a wallet that is here now (`portable/`). */
import type { AgentTables } from '../storage/agent-tables.ts'
import type { AgentDb } from '../storage/database.ts'

export type AliasKind = AgentTables['wallet_alias']['kind']

export type Aliases = {
  /** The wallet that was imported with a token; nothing for one that nobody knows. Where no wallet was imported, nothing is asked of the database. */
  find(kind: AliasKind, token: string): Promise<string | undefined>
  /** Is told before there are more of them. */
  expect(): void
}

/** The longest token that any agent gives out. */
const longest = 100

export async function openAliases(db: AgentDb): Promise<Aliases> {
  let areThere =
    (await db.selectFrom('wallet_alias').select('token').limit(1).executeTakeFirst()) !== undefined
  return {
    async find(kind, token) {
      if (!areThere || token === '' || token.length > longest) return undefined
      const found = db
        .selectFrom('wallet_alias')
        .select('wallet_id')
        .where('token', '=', token)
        .where('kind', '=', kind)
      return (await found.executeTakeFirst())?.wallet_id
    },
    expect: () => void (areThere = true),
  }
}
