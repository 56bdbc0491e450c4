/** The tokens by which others find a wallet: in the DIDs that its peers know, in the credentials it has issued, in its open links. */
import { setImmediate as turn } from 'node:timers/promises'
import { resolvePeerDid } from '../did/peer.ts'
import { endpointsOf } from '../didcomm/route.ts'
import type { AgentTables } from '../storage/agent-tables.ts'
import type { AgentTx, Db } from '../storage/database.ts'
import { belongsToAnother } from './refusals.ts'

export type Token = Pick<AgentTables['wallet_alias'], 'kind' | 'token'>

/** As agents make them: base58 of a sealed wallet id. */
const tokenForm = /^[1-9A-HJ-NP-Za-km-z]{50,60}$/

/** How many DIDs are read before others have their turn, and how many rows are written at a time. */
const atOnce = 200

/** All of a wallet's, read off its file. */
export async function tokensOf(db: Db): Promise<Token[]> {
  const dids = await db.selectFrom('peer_did').select('did').execute()
  const lists = await db.selectFrom('status_list').select('id').execute()
  const sessions = await db.selectFrom('enterprise_session').select(['product', 'submission_id']).execute()
  const mailboxes = new Set<string>()
  for (const [index, { did }] of dids.entries()) {
    if (index % atOnce === 0) await turn()
    for (const mailbox of mailboxesOf(did)) mailboxes.add(mailbox)
  }
  const tokens: Token[] = [
    ...[...mailboxes].map((token) => ({ kind: 'mailbox' as const, token })),
    ...lists.map(({ id: token }) => ({ kind: 'status-list' as const, token })),
    ...sessions.map(({ product: kind, submission_id: token }) => ({ kind, token })),
  ]
  return tokens.filter(({ token }) => tokenForm.test(token))
}

/** Has tokens, which lead nowhere yet, lead to a wallet. @throws {Problem} `BelongsToAnother` */
export async function writeTokens(tx: AgentTx, walletId: string, tokens: readonly Token[]): Promise<void> {
  for (let at = 0; at < tokens.length; at += atOnce) {
    const rows = tokens.slice(at, at + atOnce).map((token) => ({ ...token, wallet_id: walletId }))
    const insertion = tx.insertInto('wallet_alias').values(rows)
    const { numInsertedOrUpdatedRows } = await insertion
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (Number(numInsertedOrUpdatedRows) < rows.length)
      throw belongsToAnother('An address that the wallet is reached at')
  }
}

/** The last parts of the addresses in a DID; none of one that cannot be read, at which nobody reaches anybody. */
function mailboxesOf(did: string): string[] {
  try {
    return endpointsOf(resolvePeerDid(did)).map(({ uri }) => uri.split('/').at(-1)!)
  } catch {
    return []
  }
}
