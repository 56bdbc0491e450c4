/**
 * The parameter `state` of a log-in: what the return needs, sealed with the key of the wallet for one issuer,
 * so that every node can answer it and a begun log-in writes nothing. It is of one browser, which has a
 * cookie (RFC 9700 §4.7).
 */
import * as z from 'zod'
import { isOver } from '../../../foundation/clock.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { digestOf, newSecret } from '../../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../../wallet/wallet.ts'

/** The seconds from the departure to the provider until the return. */
export const lifetimeSeconds = 600

const State = z.object({
  /** The checked request of the wallet, which the caller knows. */
  request: z.unknown(),
  /** The issuer identifier of the provider. */
  provider: z.string(),
  /** PKCE (RFC 7636 §4.1). */
  verifier: z.string(),
  nonce: z.string(),
  /** The digest of the cookie. */
  browser: z.string(),
  endsMs: z.number(),
})
type State = z.infer<typeof State>

const contextOf = (issuerId: string) => `log-in:${issuerId}`

export function sealState(wallet: Wallet, issuerId: string, state: Omit<State, 'endsMs'>): string {
  const endsMs = Date.now() + lifetimeSeconds * 1_000
  return wallet.seal(contextOf(issuerId), JSON.stringify({ ...state, endsMs } satisfies State))
}

/** @throws {LostLogIn} */
export function openState(
  wallet: Wallet,
  issuerId: string,
  { sealed, cookies }: { sealed: string; cookies: string | undefined },
): State {
  let state: State
  try {
    state = State.parse(JSON.parse(wallet.unseal(contextOf(issuerId), sealed)))
  } catch (cause) {
    throw beginAgain('it was not begun here', cause)
  }
  if (isOver(state.endsMs)) throw beginAgain('it took more than ten minutes')
  const secret = cookieIn(wallet, cookies)
  if (secret === undefined || digestOf(secret) !== state.browser)
    throw beginAgain('it was begun in another browser, or this one keeps no cookies')
  return state
}

/** The return belongs to no log-in of this browser. The wallet is not told: it is not known which one asked. */
export class LostLogIn extends OAuthError {}

/** `reason` continues the sentence "The log-in cannot be continued". */
export function beginAgain(reason: string, cause?: unknown): LostLogIn {
  return new LostLogIn('invalid_request', `The log-in cannot be continued: ${reason}.`, { cause })
}

/** With this prefix, only this host can set the cookie, over https (RFC 6265bis §4.1.3.2). */
const nameOf = ({ env }: Wallet) => (isSecure(env.urls.rest) ? '__Host-vci' : 'vci')
const isSecure = (base: string) => base.startsWith('https:')

/** The cookie of the browser. One that it has stays, so that log-ins in two windows do not end each other. */
export function toCookie(wallet: Wallet, cookies: string | undefined): { secret: string; header: string } {
  const secret = cookieIn(wallet, cookies) ?? newSecret()
  const secure = isSecure(wallet.env.urls.rest) ? '; Secure' : ''
  const rest = `Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=Lax${secure}`
  return { secret, header: `${nameOf(wallet)}=${secret}; ${rest}` }
}

/** The secret of the browser. */
export function cookieIn(wallet: Wallet, cookies = ''): string | undefined {
  const values = cookies
    .split(';')
    .map((each) => each.trim().split('='))
    .flatMap(([name, value = '']) => (name === nameOf(wallet) && /^[\w-]{43}$/.test(value) ? [value] : []))
  return values.length === 1 ? values[0] : undefined
}
