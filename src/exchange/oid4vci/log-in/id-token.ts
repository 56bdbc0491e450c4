/** The checks of an ID token (OpenID Connect Core 1.0 §3.1.3.7). */
import { jwtVerify } from 'jose'
import * as z from 'zod'
import { firstFault } from '../../../foundation/faults.ts'
import { Problem } from '../../../foundation/problem.ts'
import { faultOf, Subject } from '../../../wallet/bearer-tokens/verify.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { refused } from './client.ts'
import type { LogInProvider } from './provider.ts'
import type { LogInSettings } from './settings.ts'
import { lifetimeSeconds } from './state.ts'

const Claims = z.looseObject({
  sub: Subject,
  aud: z.union([z.string(), z.array(z.string())]),
  azp: z.string().optional(),
  nonce: z.string().optional(),
  acr: z.string().max(200).optional(),
  auth_time: z.number().optional(),
})
export type IdTokenClaims = z.infer<typeof Claims>

/** @throws {OAuthError}; {Problem} 503 if the keys of the provider are not known */
export async function verifyIdToken(
  { env: { config } }: Pick<Wallet, 'env'>,
  { findKey }: LogInProvider,
  settings: LogInSettings,
  { token, nonce }: { token: string; nonce: string },
): Promise<IdTokenClaims> {
  const { clientId, acrValues, maxAge } = settings
  const leewaySeconds = config.OIDC_CLOCK_LEEWAY
  const { payload } = await jwtVerify(token, findKey, {
    issuer: settings.issuer,
    audience: clientId,
    algorithms: [...config.OIDC_ALGORITHMS],
    requiredClaims: ['exp'],
    // It was made since the log-in began.
    maxTokenAge: lifetimeSeconds,
    clockTolerance: leewaySeconds,
  }).catch((error: unknown) => {
    throw error instanceof Problem ? error : wrong(faultOf(error), error)
  })
  const parsed = Claims.safeParse(payload)
  if (!parsed.success) throw wrong(`is malformed: ${firstFault(parsed.error, 'claims')}`, parsed.error)
  const { aud, azp, nonce: own, acr, auth_time: authTime } = parsed.data
  if (own !== nonce) throw wrong('has the nonce of another log-in')
  if ((azp ?? clientId) !== clientId) throw wrong('is for another client (azp)')
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined)
    throw wrong('is for several audiences, and does not name its client (azp)')
  if (acrValues && (acr === undefined || !acrValues.includes(acr)))
    throw wrong('is of a log-in whose acr is not accepted')
  if (maxAge !== undefined && (authTime ?? 0) + maxAge + leewaySeconds < Date.now() / 1_000)
    throw wrong('is of a log-in that is too old (auth_time)')
  return parsed.data
}

/** `reason` continues the sentence "The ID token". */
function wrong(reason: string, cause?: unknown) {
  return refused(`its ID token ${reason}`, undefined, cause)
}
