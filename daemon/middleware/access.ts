/**
 * Who is calling: headers in, an identity out (service §5, api.md 3.2–3.4).
 *
 * The administrator shows `x-admin-api-key`, a tenant shows `apikey`. The contract of the endpoint says which of the
 * two counts; the other is read only to tell a wrong role from a wrong key.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent } from '../../src/agent.ts'
import { Problem } from '../../src/base/problem.ts'
import { RegisteredKey, type Scope } from '../../src/wallet/model.ts'
import { defaultId } from '../../src/wallet/tenants.ts'
import type { Visit } from './audit.ts'

export type Admin = { kind: 'admin' }
/** `keyId` and `scopes` are those of the key, which the default tenant may not have; without scopes, all is allowed. */
export type Tenant = {
  kind: 'tenant'
  walletId: string
  entityId: string
  keyId?: string
  scopes?: readonly Scope[]
}
export type Caller = Admin | Tenant | undefined

const defaultTenant: Tenant = { kind: 'tenant', walletId: defaultId, entityId: defaultId }

/** One function for every kind of access, that finds out who calls, and tells `visit` also where that is nobody to be let in. @throws {Problem} 401 or 403 */
export type Authenticate = {
  admin: (headers: IncomingHttpHeaders, visit: Visit) => Promise<Admin>
  tenant: (headers: IncomingHttpHeaders, visit: Visit) => Promise<Tenant>
  'admin-or-tenant': (headers: IncomingHttpHeaders, visit: Visit) => Promise<Admin | Tenant>
  public: (headers: IncomingHttpHeaders, visit: Visit) => Promise<undefined>
}

/** Makes the functions for an agent, by its configuration and its administrator's token. */
export function createAccess(agent: Agent): Authenticate {
  const { API_KEY_ENABLED, API_KEY_AUTHENTICATE_AS_DEFAULT_USER, API_KEY_AUTO_PROVISIONING } = agent.config
  const { isAdminToken } = agent
  const provisioning = new Map<string, Promise<Tenant>>()

  async function findTenant(apiKey: string): Promise<Tenant | undefined> {
    if (API_KEY_AUTHENTICATE_AS_DEFAULT_USER) return defaultTenant
    const admitted = await agent.tenants.keys.find(apiKey)
    return admitted && { kind: 'tenant', ...admitted }
  }

  /** Requests that arrive together with one new key wait for the same wallet. */
  function provision(apiKey: string, visit: Visit): Promise<Tenant> {
    const running = provisioning.get(apiKey)
    if (running) return running
    const made = makeTenant(agent, apiKey, visit).finally(() => provisioning.delete(apiKey))
    provisioning.set(apiKey, made)
    return made
  }

  async function tenant(headers: IncomingHttpHeaders, visit: Visit): Promise<Tenant> {
    if (!API_KEY_ENABLED) return defaultTenant
    const apiKey = headers.apikey
    if (typeof apiKey !== 'string')
      throw unauthorized('InvalidCredentials', 'ApiKey key is not provided. Send it in the header `apikey`.')
    if (apiKey === '') throw unauthorized('ApiKeyAuthenticationError', 'Empty `apikey` header provided')
    const found = await findTenant(apiKey)
    if (found) return found
    if (API_KEY_AUTO_PROVISIONING) return provision(apiKey, visit)
    throw invalidApiKey()
  }

  async function admin(headers: IncomingHttpHeaders, visit: Visit): Promise<Admin> {
    const token = headers['x-admin-api-key']
    if (isAdminToken(token)) return { kind: 'admin' }
    const { apikey } = headers
    const known =
      token === undefined &&
      API_KEY_ENABLED &&
      typeof apikey === 'string' &&
      apikey !== '' &&
      (await findTenant(apikey))
    if (known) {
      visit.caller = known
      throw new Problem(
        'error:AuthenticationError:InvalidRole',
        'The Tenant role is not permitted. Expected Admin role: send the administrator’s token in the header `x-admin-api-key`.',
      )
    }
    throw unauthorized('AdminApiKeyAuthenticationError', adminDetail(token))
  }

  return {
    admin,
    tenant,
    async 'admin-or-tenant'(headers, visit) {
      const token = headers['x-admin-api-key']
      // A tenant's key is the second chance of whoever sent it; without keys, that of whoever did not claim to be the administrator.
      const mayBeTenant = API_KEY_ENABLED ? headers.apikey !== undefined : token === undefined
      return !isAdminToken(token) && mayBeTenant ? tenant(headers, visit) : admin(headers, visit)
    },
    public: () => Promise.resolve(undefined),
  }
}

/** A wallet and an entity for a key that nobody registered (`API_KEY_AUTO_PROVISIONING`, api.md 3.2). */
async function makeTenant(agent: Agent, apiKey: string, { address, requestId }: Visit): Promise<Tenant> {
  const { wallets, tenants, audit } = agent
  // Between the look-up and now, another request may have made the wallet already.
  const known = await tenants.keys.find(apiKey)
  if (known) return { kind: 'tenant', ...known }
  if (await tenants.keys.isKnown(apiKey)) throw invalidApiKey()
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
  what: 'InvalidCredentials' | 'ApiKeyAuthenticationError' | 'AdminApiKeyAuthenticationError',
  detail: string,
): Problem {
  return new Problem(`error:AuthenticationError:${what}`, detail)
}
