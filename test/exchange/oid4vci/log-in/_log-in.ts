/**
 * The steps of a log-in, each by itself: the departure, what the browser does at the provider, and the
 * return.
 */
import { beginLogIn } from '../../../../src/exchange/oid4vci/log-in/begin.ts'
import { finishLogIn } from '../../../../src/exchange/oid4vci/log-in/finish.ts'
import { logInOf } from '../../../../src/exchange/oid4vci/log-in/settings.ts'
import type { Wallet } from '../../../../src/wallet/wallet.ts'
import type { TestAgent } from '../../../support/agent.ts'
import type { Setup } from '../_wallet.ts'
import { visit } from './_browser.ts'

export { useProvider, visit } from './_browser.ts'

export type Place = Setup & { agent: TestAgent }

async function withIssuer<T>(
  { agent, tenant, issuerId }: Place,
  use: (wallet: Wallet, row: any) => Promise<T>,
) {
  const rows = agent.agent.db.selectFrom('credential_issuer').selectAll().where('id', '=', issuerId)
  const row = await rows.executeTakeFirstOrThrow()
  return agent.agent.wallets.use(tenant.walletId, (wallet) => use(wallet, row))
}

export const request = { id: 'a request' }

/** Sends the browser to the provider, with the cookies that it has. */
export function depart(place: Place, cookies?: string) {
  return withIssuer(place, (wallet, row) => beginLogIn(wallet, row, logInOf(row)!, { request, cookies }))
}

/** The cookie as the browser sends it. */
export const sent = (cookie: string) => cookie.split(';')[0]!

export function comeBack(place: Place, { searchParams }: URL, cookies?: string) {
  return withIssuer(place, (wallet, row) => finishLogIn(wallet, row, { parameters: searchParams, cookies }))
}

/** The whole way, and what became of it: who has logged in, or why nobody has. */
export async function logIn(place: Place) {
  const { redirect, cookie } = await depart(place)
  const returned = await comeBack(place, await visit(place, redirect), sent(cookie))
  if ('identity' in returned) return returned.identity
  return { error: returned.refusal.code, reason: returned.refusal.message }
}
