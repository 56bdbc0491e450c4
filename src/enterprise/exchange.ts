/** A successful challenge for a token, once and soon (ours): what an application shows to its own parts in place of a session. */
import { steadyNow } from '../base/clock.ts'
import { Problem } from '../base/problem.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getChallenge } from './authentication.ts'
import type { Enterprise } from './enterprise.ts'
import type { Token } from './token.ts'

/** @throws {Problem} 404 when the wallet has no such challenge, 400 while it is not successful, 410 when its token was given out or it is too late. */
export async function exchangeChallenge(wallet: Wallet, enterprise: Enterprise, id: string): Promise<Token> {
  const { state } = await getChallenge(wallet.db, id)
  if (state !== 'success') {
    const detail = `The challenge is ${state}. Only one that was answered with success is exchanged for a token.`
    throw new Problem('/errors/authenticate/challenge-not-successful', detail)
  }
  const did = await wallet.transaction((tx) => take(tx, id, wallet.env.config.AUTH_CHALLENGE_EXPIRY))
  if (did !== undefined) return enterprise.tokens.issue(wallet.id, did)
  const detail =
    'The token of this challenge was given out already, or the time for it is over. Ask for a new challenge.'
  throw new Problem('/errors/authenticate/token-expired', detail)
}

/** The DID of a challenge whose token is still to be had, and which has none any more now. */
async function take(tx: Tx, id: string, seconds: number): Promise<string | undefined> {
  const now = steadyNow()
  const taken = await tx
    .updateTable('enterprise_session')
    .set({ token_until: null })
    .where('id', '=', id)
    .where('token_until', '>', new Date(now).toISOString())
    // A clock that was set back before the process began must not make the time longer.
    .where('token_until', '<=', new Date(now + seconds * 1_000).toISOString())
    .returning('did')
    .executeTakeFirst()
  return taken?.did ?? undefined
}
