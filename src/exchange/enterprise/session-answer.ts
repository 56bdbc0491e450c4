/**
 * The one answer to a session. One SQL statement checks that the link is open and closes it, so that of many
 * answers at once, in whichever way, only one is evaluated.
 */
import { steadyNow } from '../../foundation/clock.ts'
import type { Outcome } from '../oid4vp/response.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteChange } from '../../foundation/storage/tx-context.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { SessionOpenId4Vp } from './openid4vp-model.ts'
import { readSessionOpenId4Vp, withdrawRequest } from './openid4vp-request.ts'
import { type Product, putSessionEvent, type Session } from './session.ts'

/** Closes the link for the one answer that it accepts. False when it is used already, or has ended. */
export async function claim(tx: Tx, { id, submitted_at }: Session): Promise<boolean> {
  if (submitted_at !== null) return false
  const now = new Date(steadyNow()).toISOString()
  const { numUpdatedRows } = await tx
    .updateTable('enterprise_session')
    .set({ submitted_at: now })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .where('submitted_at', 'is', null)
    // A clock that was set back before the process started must not keep a link open for longer.
    .where('begins', '<=', now)
    .where('ends', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0
}

/** Closes the link for an answer that was submitted to it, and withdraws the request of OpenID4VP. */
export async function claimForSubmission(tx: Tx, wallet: Wallet, row: Session): Promise<boolean> {
  const isClaimed = await claim(tx, row)
  if (isClaimed) await withdrawRequest(tx, wallet, row, 'It was answered without OpenID4VP.')
  return isClaimed
}

/** An answer: a DID when it is valid. With OpenID4VP, `outcome` has the checks. */
type SessionAnswer = {
  did: string | undefined
  answeredBy: NonNullable<Session['answered_by']>
  outcome?: Outcome
}

/** Stores the result of the claimed answer. False when the session was deleted in the meantime. */
export async function finish(
  tx: Tx,
  wallet: Wallet,
  product: Product,
  { id, openid4vp }: Session,
  { did, answeredBy, outcome }: SessionAnswer,
): Promise<boolean> {
  const tokenSeconds = wallet.env.config.AUTH_CHALLENGE_EXPIRY
  const hasToken = did !== undefined && product.hasToken
  const row = await tx
    .updateTable('enterprise_session')
    .set({
      state: did === undefined ? 'error' : 'success',
      did: did ?? null,
      token_until: hasToken ? new Date(steadyNow() + tokenSeconds * 1_000).toISOString() : null,
      answered_by: answeredBy,
      ...(openid4vp !== null && outcome && { openid4vp: withOutcome(openid4vp, outcome) }),
      updated_at: new Date().toISOString(),
    })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .returningAll()
    .executeTakeFirst()
  if (!row) return false
  noteChange(tx, `session ${id}`)
  await putSessionEvent(tx, wallet, product, row)
  return true
}

function withOutcome(openid4vp: string, { checks, credentials }: Outcome): string {
  const result: SessionOpenId4Vp = { ...readSessionOpenId4Vp(openid4vp), checks, credentials }
  return JSON.stringify(result)
}
