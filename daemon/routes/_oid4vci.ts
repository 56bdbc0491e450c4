/**
 * The public endpoints of an OpenID4VCI issuer: the wallet that the issuer belongs to, and the form of
 * responses.
 */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { getIssuer, issuerNotFound, type IssuerRow } from '../../src/exchange/oid4vci/issuers.ts'
import { proofAlgorithms } from '../../src/exchange/oid4vci/metadata.ts'
import { OAuthError } from '../../src/foundation/oauth/oauth-error.ts'
import { Problem } from '../../src/foundation/problem.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { useForOthers } from './_for-others.ts'

/** Members of the contracts of pages for people, without another form. */
export const forPeople = {
  access: 'public',
  perAddress: 'OID4VCI_REQUESTS_PER_MINUTE',
  media: ['text/html'],
  reply: [200, z.string()],
} as const

/** The headers by which a browser says which page sends a form. */
export const FormHeaders = z.object({
  origin: z.string().optional(),
  'sec-fetch-site': z.string().optional(),
})

/**
 * The form must come from the page of this agent: browsers say so by one of these headers (Fetch Metadata,
 * RFC 6454).
 *
 * @throws {Problem} 403
 */
export function assertOwnPage(
  { origin, 'sec-fetch-site': site }: z.output<typeof FormHeaders>,
  base: string,
): void {
  const isOwn = (origin ?? new URL(base).origin) === new URL(base).origin
  if (!isOwn || (site ?? 'same-origin') !== 'same-origin')
    throw new Problem('Not Allowed', 'The form was sent by a page of another site.')
}

const OAuthErrorResponse = z
  .object({ error: z.string(), error_description: z.string() })
  .meta({ id: 'OAuthErrorResponse' })

/** Members of the contracts of endpoints that wallets call. */
export const forWallets = {
  access: 'public',
  perAddress: 'OID4VCI_REQUESTS_PER_MINUTE',
  media: ['application/json'],
} as const

export const Dpop = z.string().optional().describe('A DPoP proof (RFC 9449).')

/** The headers by which a client identifies itself. */
export const ClientHeaders = z.object({
  dpop: Dpop,
  'oauth-client-attestation': z
    .string()
    .optional()
    .describe('A wallet attestation of a trusted wallet provider (VCI Appendix E).'),
  'oauth-client-attestation-pop': z
    .string()
    .optional()
    .describe('The proof that the client has the attested key.'),
})

/** Members of the contracts of endpoints whose errors are those of OAuth. */
export const oauth = {
  ...forWallets,
  failures: { statuses: [400, 401, 403], bodies: { 'application/json': OAuthErrorResponse } },
} as const

/** Runs `use` with the wallet of an issuer. @throws {Problem} 404 */
export async function withIssuer<T>(
  agent: Agent,
  issuerId: string,
  use: (wallet: Wallet, issuer: IssuerRow) => Promise<T>,
): Promise<T> {
  const issuer = await getIssuer(agent.db, issuerId)
  const run = (wallet: Wallet) => use(wallet, issuer)
  return useForOthers(agent, issuer.wallet_id, run, () => issuerNotFound(issuerId))
}

/** RFC 6749 §5.1. All responses have `Cache-Control: no-store`. */
export const uncached = { Pragma: 'no-cache' }

/** A response of an OAuth endpoint. */
export function toOAuthAnswer(answer: Promise<object | void>) {
  const toAnswer = (body: object | void) => ({ type: json, body: body ?? '', headers: uncached })
  return orOAuthError(answer.then(toAnswer))
}

const json = 'application/json' as const

/** The answer, or that of the `OAuthError` that it rejects with. */
export async function orOAuthError<Answer>(answer: Promise<Answer>) {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const { code, status, message, dpopNonce } = error
    const challenge = status === 401 || status === 403 ? { 'WWW-Authenticate': challengeOf(error) } : {}
    return {
      status,
      type: json,
      body: { error: code, error_description: message },
      headers: { ...uncached, ...challenge, ...(dpopNonce !== undefined && { 'DPoP-Nonce': dpopNonce }) },
    }
  }
}

/** RFC 6750 §3, RFC 9449 §7.1. */
function challengeOf({ code, message }: OAuthError): string {
  const reason = `error="${code}", error_description="${message}"`
  const dpop = `DPoP algs="${proofAlgorithms.join(' ')}"`
  return code.includes('dpop') ? `${dpop}, ${reason}` : `Bearer ${reason}, ${dpop}`
}
