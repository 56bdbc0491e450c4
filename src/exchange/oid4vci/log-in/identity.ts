/** The identity that a provider asserts after a log-in, and the reasons of a failed log-in. */
import * as z from 'zod'
import type { JsonObject } from '../../../foundation/json.ts'
import { UnreachableError } from '../../../foundation/net/unreachable-error.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { Problem } from '../../../foundation/problem.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { refused } from './client.ts'
import type { IdTokenClaims } from './id-token.ts'

export const Identity = z.object({
  iss: z.string(),
  sub: z.string(),
  /** Seconds since 1970. */
  authTime: z.number().exactOptional(),
  acr: z.string().exactOptional(),
  claims: z.record(z.string(), z.json()),
})
export type Identity = z.infer<typeof Identity>

const contextOf = (grantId: string) => `issuance-identity:${grantId}`

/** The column of a grant. */
export function sealIdentity(wallet: Wallet, grantId: string, identity: Identity | undefined): string | null {
  return identity ? wallet.seal(contextOf(grantId), JSON.stringify(identity)) : null
}

/** The identity that logged in for a grant. */
export function identityOf(
  wallet: Wallet,
  { id, identity }: { id: string; identity: string | null },
): Identity | undefined {
  return identity === null ? undefined : Identity.parse(JSON.parse(wallet.unseal(contextOf(id), identity)))
}

/** Claims about the token and the log-in, which are not about the person. */
const protocolClaims = new Set(
  'iss sub aud exp nbf iat jti nonce azp acr amr auth_time at_hash c_hash s_hash sid typ session_state'.split(
    ' ',
  ),
)

/** The form of the consent page has the identity, sealed. */
const maxLength = 16_384

/** @throws {OAuthError} for too many claims */
export function toIdentity(
  iss: string,
  { sub, auth_time: authTime, acr }: IdTokenClaims,
  claims: JsonObject,
): Identity {
  const about = Object.entries(claims).filter(([name, value]) => !protocolClaims.has(name) && value !== null)
  const identity = Identity.parse({
    iss,
    sub,
    ...(authTime !== undefined && { authTime }),
    ...(acr !== undefined && { acr }),
    claims: Object.fromEntries(about),
  })
  if (JSON.stringify(identity).length > maxLength)
    throw refused(`it says more about the person than ${maxLength} characters. Ask for less (scope)`)
  return identity
}

/**
 * How a page calls the person: by the claims that people recognise themselves by.
 *
 * @see OpenID Connect Core 1.0 §5.1
 */
export function nameOf({ sub, claims }: Identity): string {
  const names = ['name', 'preferred_username', 'email'].map((name) => claims[name])
  const [known] = names.filter((name): name is string => typeof name === 'string' && name.trim() !== '')
  return known ?? sub
}

/** The error of a log-in, which the wallet is told. @throws any other error */
export function toRefusal(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof z.ZodError)
    return refused('its metadata do not have what a log-in needs', undefined, error)
  if (error instanceof UnreachableError) return refused(error.message, 503, error)
  if (!(error instanceof Problem)) throw error
  if (error.status === 503) return refused(error.message.replace(/\.$/, ''), 503, error)
  return refused(
    `the key of the client there cannot sign: ${error.message.replace(/\.$/, '')}`,
    undefined,
    error,
  )
}
