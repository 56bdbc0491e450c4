/**
 * Authentication: credentials in headers to a caller.
 *
 * The administrator sends `x-admin-api-key`, a tenant sends `apikey`, and either sends a bearer token if
 * there is an OpenID provider (`bearer.ts`). The contract of the endpoint says which of them counts. The
 * other one only distinguishes a wrong role (403) from a wrong key (401). A reader of metrics sends what
 * Prometheus can send: a bearer token.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent } from '../../src/agent/agent.ts'
import { createTokenCheck } from '../../src/foundation/api-key.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { findOpening } from '../../src/foundation/net/reach.ts'
import { RegisteredKey, type Scope } from '../../src/wallet/model.ts'
import { defaultId } from '../../src/wallet/tenants.ts'
import type { Login } from '../../src/wallet/bearer-tokens/verify.ts'
import { createBearerAccess, type Subject } from './bearer.ts'
import type { RequestContext } from './request-context.ts'

/** `login`: the subject of the bearer token, if there is one. */
export type Admin = { kind: 'admin'; login?: Login }
/**
 * A tenant has an entity and its key, or the subject of a bearer token. `keyId` is undefined for the default
 * tenant if keys are not checked. Without `scopes`, the tenant has all of them.
 */
export type Tenant = {
  kind: 'tenant'
  walletId: string
  entityId?: string
  keyId?: string
  login?: Login
  scopes?: readonly Scope[]
}
export type { Subject }
export type Caller = Admin | Tenant | Subject | undefined

export type Access = 'admin' | 'tenant' | 'admin-or-tenant' | 'metrics' | 'public'

/**
 * Finds the caller. A known tenant in the wrong role is noted in the context.
 *
 * @throws {Problem} 401 or 403
 */
export type Identify = (headers: IncomingHttpHeaders, context: RequestContext) => Promise<Caller>

const defaultTenant: Tenant = { kind: 'tenant', walletId: defaultId, entityId: defaultId }

export function createAccess(agent: Agent) {
  const { API_KEY_ENABLED, API_KEY_AUTHENTICATE_AS_DEFAULT_USER, API_KEY_AUTO_PROVISIONING } = agent.config
  const { isAdminToken, bearerTokens } = agent
  const bearer = bearerTokens && createBearerAccess(agent, bearerTokens)
  const provisioning = new Map<string, Promise<Tenant>>()

  async function findTenant(apiKey: string, { fingerprint }: RequestContext): Promise<Tenant | undefined> {
    if (API_KEY_AUTHENTICATE_AS_DEFAULT_USER) return defaultTenant
    const found = await agent.tenants.keys.find(apiKey, fingerprint)
    return found && { kind: 'tenant', ...found }
  }

  /** Concurrent requests with one new key get one wallet. */
  function provision(apiKey: string, context: RequestContext): Promise<Tenant> {
    const running = provisioning.get(apiKey)
    if (running) return running
    const created = createTenant(agent, apiKey, context).finally(() => provisioning.delete(apiKey))
    provisioning.set(apiKey, created)
    return created
  }

  async function tenant(headers: IncomingHttpHeaders, context: RequestContext): Promise<Tenant> {
    return (await bearer?.tenant(headers, context)) ?? tenantOfKey(headers, context)
  }

  async function tenantOfKey({ apikey }: IncomingHttpHeaders, context: RequestContext): Promise<Tenant> {
    if (!API_KEY_ENABLED && bearer) throw unauthorized('InvalidCredentials', 'Bearer token is not provided.')
    if (!API_KEY_ENABLED) return defaultTenant
    if (typeof apikey !== 'string')
      throw unauthorized(
        'InvalidCredentials',
        `ApiKey key is not provided. Send it in the header \`apikey\`${bearer ? ', or a bearer token of the OpenID provider' : ''}.`,
      )
    if (apikey === '') throw unauthorized('ApiKeyAuthenticationError', 'Empty `apikey` header provided')
    const found = await findTenant(apikey, context)
    if (found) return found
    if (API_KEY_AUTO_PROVISIONING) return provision(apikey, context)
    throw invalidApiKey()
  }

  async function admin(headers: IncomingHttpHeaders, context: RequestContext): Promise<Admin> {
    const { 'x-admin-api-key': token, apikey } = headers
    if (isAdminToken(token)) return { kind: 'admin' }
    const ofToken = await bearer?.admin(headers, context)
    if (ofToken) return ofToken
    const isTenantOnly = token === undefined && API_KEY_ENABLED && typeof apikey === 'string' && apikey !== ''
    const known = isTenantOnly ? await findTenant(apikey, context) : undefined
    if (!known) throw unauthorized('AdminApiKeyAuthenticationError', adminDetail(token))
    context.caller = known
    throw new Problem(
      'error:AuthenticationError:InvalidRole',
      'The Tenant role is not permitted. Expected Admin role: send the administrator’s token in the header `x-admin-api-key`.',
    )
  }

  return {
    admin,
    tenant,
    async 'admin-or-tenant'(
      headers: IncomingHttpHeaders,
      context: RequestContext,
    ): Promise<Admin | Tenant | Subject> {
      const { 'x-admin-api-key': token, apikey } = headers
      const ofToken = isAdminToken(token) ? undefined : await bearer?.['admin-or-tenant'](headers, context)
      if (ofToken) return ofToken
      // A wrong token falls back to the API key. Without API keys, only a request without a token is a
      // tenant's.
      const mayBeTenant = API_KEY_ENABLED ? apikey !== undefined : token === undefined
      return !isAdminToken(token) && mayBeTenant ? tenantOfKey(headers, context) : admin(headers, context)
    },
    metrics: createMetricsAccess(agent),
    public: () => Promise.resolve(undefined),
  } satisfies Record<Access, Identify>
}

/**
 * Readers of metrics: `METRICS_TOKEN`, or the administrator. Without the token, anyone may read if only this
 * machine can reach the agent. Metrics have no names of tenants, but tell how much they do.
 */
function createMetricsAccess({ config, isAdminToken }: Agent): Identify {
  const { METRICS_TOKEN: token } = config
  const isToken = createTokenCheck(token ? [token] : [])
  const isOpen = token === undefined && findOpening(config) === undefined
  return ({ authorization, 'x-admin-api-key': adminToken }) => {
    const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (isAdminToken(adminToken)) return Promise.resolve({ kind: 'admin' })
    if ((isOpen && adminToken === undefined) || isToken(bearer)) return Promise.resolve(undefined)
    if (isOpen) throw unauthorized('AdminApiKeyAuthenticationError', adminDetail(adminToken))
    const given = authorization === undefined && adminToken === undefined ? 'No' : 'Invalid'
    const needed = token ? 'METRICS_TOKEN in the header `Authorization: Bearer …`, or ' : ''
    const way = token ? '' : ' METRICS_TOKEN sets a token for Prometheus.'
    throw unauthorized(
      'InvalidCredentials',
      `${given} credentials for the metrics. Send ${needed}the administrator’s token in the header \`x-admin-api-key\`.${way}`,
    )
  }
}

/** Refuses a key that has none of the required scopes. @throws {Problem} `InsufficientScope` */
export function assertScope(caller: Caller, required: readonly Scope[] | undefined, route: string): void {
  if (!caller || caller.kind === 'admin' || !caller.scopes || !required) return
  const { scopes } = caller
  const [credential, issuedBy] =
    caller.kind === 'subject' || caller.login
      ? ['token', 'the OpenID provider']
      : ['key', 'the administrator']
  if (required.some((scope) => scopes.includes(scope))) return
  const accepted =
    required.length === 0
      ? `a ${credential} without scopes`
      : `a ${credential} with the scope ${required.join(' or ')}, or one without scopes`
  throw new Problem(
    'error:AuthenticationError:InsufficientScope',
    `The scopes of this ${credential} are ${scopes.join(', ') || 'none'}. ${route} requires ${accepted}: ask ${issuedBy} for such a ${credential}.`,
  )
}

/** Makes a wallet and an entity for an unknown key (`API_KEY_AUTO_PROVISIONING`). */
async function createTenant(
  agent: Agent,
  apiKey: string,
  { address, requestId }: RequestContext,
): Promise<Tenant> {
  const { wallets, tenants, audit } = agent
  // An earlier request may have made the wallet since the lookup.
  const known = await tenants.keys.find(apiKey)
  if (known) return { kind: 'tenant', ...known }
  if (await tenants.keys.isKnown(apiKey)) throw invalidApiKey()
  // One process makes the wallet of a key, as if the key's digest were the id.
  wallets.assertOwned(tenants.keys.fingerprint(apiKey))
  const fault = RegisteredKey.safeParse(apiKey).error?.issues[0]?.message
  if (fault !== undefined)
    throw unauthorized(
      'InvalidCredentials',
      `Invalid API key: it is unknown, and one that makes a wallet ${fault}.`,
    )
  return audit.during(
    { actor: 'anonymous', address, requestId, action: 'tenant made for an unknown key' },
    async (begin) => {
      await begin()
      const { id: walletId } = await wallets.create({ name: 'Auto provisioned wallet' })
      const { id: entityId } = await tenants.create({
        id: undefined,
        name: 'Auto provisioned entity',
        walletId,
      })
      await tenants.keys.register({ entityId, apiKey })
      const made = await tenants.keys.find(apiKey)
      if (!made) throw invalidApiKey()
      return { kind: 'tenant', ...made } satisfies Tenant
    },
    ({ walletId, entityId, keyId }) => ({ walletId, entityId, keyId }),
  )
}

function adminDetail(token: unknown): string {
  if (token === undefined) return 'Admin API key is not provided in header `x-admin-api-key`'
  return token === ''
    ? 'Empty `x-admin-api-key` header provided'
    : 'Invalid Admin API key in header `x-admin-api-key`'
}

function invalidApiKey(): Problem {
  return unauthorized('InvalidCredentials', 'Invalid API key')
}

function unauthorized(
  type: 'InvalidCredentials' | 'ApiKeyAuthenticationError' | 'AdminApiKeyAuthenticationError',
  detail: string,
): Problem {
  return new Problem(`error:AuthenticationError:${type}`, detail)
}
