/**
 * Bearer tokens (RFC 6750) in the header `Authorization`: callers of the operator's OpenID provider.
 *
 * A tenant's token gives access to the wallets that the agent has permissions for. The header `X-Wallet-Id`
 * chooses one of several.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent } from '../../src/agent/agent.ts'
import type { BearerTokens } from '../../src/wallet/bearer-tokens/bearer-tokens.ts'
import { listPermittedWallets } from '../../src/wallet/bearer-tokens/permissions.ts'
import type { Identity, Login } from '../../src/wallet/bearer-tokens/verify.ts'
import { Problem } from '../../src/foundation/problem.ts'
import type { Scope } from '../../src/wallet/model.ts'
import type { Admin, Tenant } from './access.ts'
import type { RequestContext } from './request-context.ts'

/** The subject of a tenant's token at an endpoint about wallets, of which it may have none or several. */
export type Subject = {
  kind: 'subject'
  login: Login
  walletIds: readonly string[]
  scopes?: readonly Scope[]
}

/** The token of a request; undefined without one. It may be empty. */
export function findBearer({ authorization }: IncomingHttpHeaders): string | undefined {
  const found = /^bearer(?: +(.*))?$/i.exec(authorization ?? '')
  return found ? (found[1] ?? '').trim() : undefined
}

export function wantedWallet({ 'x-wallet-id': wanted }: IncomingHttpHeaders): string | undefined {
  return typeof wanted === 'string' && wanted !== '' ? wanted.toLowerCase() : undefined
}

/** The wallet that the token of a request has used lately, for the queue and the node of the request. */
export function peekBearerWallet({ bearerTokens }: Agent, headers: IncomingHttpHeaders): string | undefined {
  const token = bearerTokens && findBearer(headers)
  return token ? bearerTokens.peekWallet(token, wantedWallet(headers)) : undefined
}

/** Finds the callers of requests with a token. Functions return undefined without one. */
export function createBearerAccess({ db }: Agent, tokens: BearerTokens) {
  /** The subject of a valid token is noted in the context, so that the audit log has it also if it is refused. */
  async function identify(
    headers: IncomingHttpHeaders,
    context: RequestContext,
  ): Promise<Identity | undefined> {
    const token = findBearer(headers)
    if (token === undefined) return undefined
    if (token === '')
      throw new Problem(
        'error:AuthenticationError:JwtAuthenticationError',
        'Empty bearer token header provided',
      )
    const found = await tokens.verify(token)
    const login = { issuer: found.issuer, subject: found.subject }
    context.caller =
      found.role === 'admin' ? { kind: 'admin', login } : { kind: 'subject', login, walletIds: [] }
    return found
  }

  /** @throws {Problem} 401; `ResourceNotPermitted` for a wallet without a permission */
  async function toSubject(
    { issuer, subject, scopes }: Identity,
    headers: IncomingHttpHeaders,
  ): Promise<Subject> {
    const login = { issuer, subject }
    const permitted = await listPermittedWallets(db, login)
    const wanted = wantedWallet(headers)
    if (wanted !== undefined && !permitted.includes(wanted))
      throw notPermitted(
        'The subject of the token has no permission for the wallet in the header `X-Wallet-Id`.',
      )
    const walletIds = wanted === undefined ? permitted : [wanted]
    return { kind: 'subject', login, walletIds, ...(scopes && { scopes }) }
  }

  return {
    /** @throws {Problem} 401, 403 */
    async admin(headers: IncomingHttpHeaders, context: RequestContext): Promise<Admin | undefined> {
      const found = await identify(headers, context)
      if (!found) return undefined
      if (found.role === 'admin') return toAdmin(found)
      throw wrongRole('Tenant role is not permitted. Expected Admin role.')
    },

    /** @throws {Problem} 401, 403 */
    async tenant(headers: IncomingHttpHeaders, context: RequestContext): Promise<Tenant | undefined> {
      const found = await identify(headers, context)
      if (!found) return undefined
      if (found.role === 'admin')
        throw wrongRole('Only Tenant role is allowed, and the token has the role admin.')
      const subject = await toSubject(found, headers)
      const { login, scopes } = subject
      const walletId = onlyWallet(subject)
      tokens.noteWallet(findBearer(headers)!, wantedWallet(headers), walletId)
      return { kind: 'tenant', walletId, login, ...(scopes && { scopes }) }
    },

    /** @throws {Problem} 401, 403 */
    async 'admin-or-tenant'(
      headers: IncomingHttpHeaders,
      context: RequestContext,
    ): Promise<Admin | Subject | undefined> {
      const found = await identify(headers, context)
      return found?.role === 'tenant' ? toSubject(found, headers) : found && toAdmin(found)
    },
  }
}

function toAdmin({ issuer, subject }: Identity): Admin {
  return { kind: 'admin', login: { issuer, subject } }
}

/** The wallet of a subject that has only one, or has chosen one. @throws {Problem} `ResourceNotPermitted` */
export function onlyWallet({ walletIds }: Subject): string {
  const [walletId, ...more] = walletIds
  if (walletId !== undefined && more.length === 0) return walletId
  throw notPermitted(
    walletId === undefined
      ? 'No wallet permissions found. Ask the administrator for one (POST /wallets/{walletId}/uma-permissions), or create a wallet (POST /wallets).'
      : `The subject of the token has ${walletIds.length} wallets. Name one of them in the header \`X-Wallet-Id\`; GET /wallets lists them.`,
  )
}

function notPermitted(detail: string): Problem {
  return new Problem('error:AuthenticationError:ResourceNotPermitted', detail)
}

function wrongRole(detail: string): Problem {
  return new Problem('error:AuthenticationError:InvalidRole', detail)
}

/**
 * The value of `WWW-Authenticate` for a refusal (RFC 6750 §3, RFC 9728 §5.1). `url` is the base URL of the
 * API.
 */
export function challengeFor(
  { status, message }: Problem,
  { headers, url }: { headers: IncomingHttpHeaders; url: string },
): string {
  const error = status === 403 ? 'insufficient_scope' : 'invalid_token'
  const parameters = Object.entries({
    // A request without a token gets no error code.
    ...(findBearer(headers) && { error, error_description: message }),
    resource_metadata: `${url}/.well-known/oauth-protected-resource`,
  })
  const quote = (text: string) => `"${text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '')}"`
  return `Bearer ${parameters.map(([name, value]) => `${name}=${quote(value)}`).join(', ')}`
}
