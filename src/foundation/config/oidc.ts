/**
 * The variables of bearer tokens: the OpenID provider of the operator, and the tokens that are accepted of
 * it.
 */
import * as z from 'zod'
import { flag, http, lifetime, seconds, secret, tokenAlgorithms } from './values.ts'

const text = z.string().min(1).max(500)

const claimPath = z
  .string()
  .max(500)
  .regex(/^[^.\s]+(?:\.[^.\s]+)*$/, 'is not a claim such as roles, or a path such as realm_access.roles')

// prettier-ignore
export const oidcVariables = {
  OIDC_ISSUER:                          http.optional()        .describe('Issuer of the OpenID provider whose bearer tokens are accepted, as in its metadata. Default: only API keys are accepted.'),
  OIDC_AUDIENCE:                        text.optional()        .describe('`aud` of the accepted tokens. Tokens for other services of the provider are refused.'),
  OIDC_CLIENT_ID:                       text.optional()        .describe('Client whose tokens are accepted too, by `azp`, `client_id` or `aud`, for providers that do not set an audience.'),
  OIDC_ROLES_CLAIM:                     claimPath.default('roles')
                                                               .describe('Claim with the roles `admin` and `tenant`; a path has dots, such as `realm_access.roles`.'),
  OIDC_SCOPE_CLAIM:                     claimPath.optional()   .describe('Claim with the scopes that limit a tenant’s token: `issuer`, `holder`, `verifier`, `read`, or `all`. Default: tokens are not limited.'),
  OIDC_ALGORITHMS:                      tokenAlgorithms.default(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512', 'RS256'])
                                                               .describe('Signature algorithms of the accepted tokens, separated by commas; of ID tokens of an issuer’s log-in too.'),
  OIDC_CLOCK_LEEWAY:                    seconds.default(30)    .describe('Tolerated clock difference in the dates of tokens.'),
  OIDC_KEYS_LIFETIME:                   lifetime.default(86_400).describe('Time for which the keys of the provider are used while it is away. They are read again every five minutes.'),
  OIDC_KEYS_REFRESH:                    seconds.default(30)    .describe('Least time between two readings of the keys, such as for tokens with an unknown key id.'),
  OIDC_LOGIN_CLIENT_ID:                 text.optional()        .describe('Public client at the provider that `agent login` uses by default.'),
  KEYCLOAK_ENABLED:                     flag.default(false)    .describe('Whether the realm of a Keycloak is the OpenID provider, as in the Cloud Agent. Replaces `OIDC_ISSUER`.'),
  KEYCLOAK_URL:                         http.default('http://localhost:9980')
                                                               .describe('Base URL of the Keycloak. The issuer is `<KEYCLOAK_URL>/realms/<KEYCLOAK_REALM>`.'),
  KEYCLOAK_REALM:                       text.default('atala-demo').describe('Realm of the Keycloak.'),
  KEYCLOAK_CLIENT_ID:                   text.default('prism-agent').describe('Client whose tokens are accepted, as `OIDC_CLIENT_ID`.'),
  KEYCLOAK_CLIENT_SECRET:               secret.optional()      .describe('Accepted for compatibility and not used: tokens are checked by the keys of the realm.'),
  KEYCLOAK_UMA_AUTO_UPGRADE_RPT:        flag.default(true)     .describe('Accepted for compatibility and not used: permissions are stored by the agent.'),
  KEYCLOAK_ROLES_CLAIM_PATH:            claimPath.optional()   .describe('Claim with the roles. Default: `resource_access.<KEYCLOAK_CLIENT_ID>.roles`.'),
} satisfies Record<string, z.ZodType>

type OidcConfig = z.output<z.ZodObject<typeof oidcVariables>>

/** The accepted tokens. `rolesClaim` and `scopeClaim` are paths: the names of nested members. */
export type OidcSettings = {
  issuer: string
  audience: string | undefined
  clientId: string | undefined
  rolesClaim: readonly string[]
  scopeClaim: readonly string[] | undefined
  /** The role of tokens that name none. Those of the Cloud Agent are tenants'. */
  defaultRole: 'tenant' | undefined
  algorithms: readonly string[]
  leewaySeconds: number
  keysLifetimeSeconds: number
  keysRefreshSeconds: number
  loginClientId: string | undefined
}

/** Undefined if bearer tokens are not accepted. */
export function oidcSettingsOf(config: OidcConfig): OidcSettings | undefined {
  const keycloak = config.KEYCLOAK_ENABLED
  const issuerUrl = keycloak ? realmOf(config) : config.OIDC_ISSUER
  if (issuerUrl === undefined) return undefined
  const clientId = keycloak ? config.KEYCLOAK_CLIENT_ID : config.OIDC_CLIENT_ID
  return {
    issuer: issuerUrl,
    audience: config.OIDC_AUDIENCE,
    clientId,
    rolesClaim: keycloak ? keycloakRolesOf(config) : config.OIDC_ROLES_CLAIM.split('.'),
    scopeClaim: config.OIDC_SCOPE_CLAIM?.split('.'),
    defaultRole: keycloak ? 'tenant' : undefined,
    algorithms: config.OIDC_ALGORITHMS,
    leewaySeconds: config.OIDC_CLOCK_LEEWAY,
    keysLifetimeSeconds: config.OIDC_KEYS_LIFETIME,
    keysRefreshSeconds: config.OIDC_KEYS_REFRESH,
    loginClientId: config.OIDC_LOGIN_CLIENT_ID,
  }
}

function realmOf({ KEYCLOAK_URL: url, KEYCLOAK_REALM: realm }: OidcConfig): string {
  return `${url.replace(/\/+$/, '')}/realms/${encodeURIComponent(realm)}`
}

function keycloakRolesOf({ KEYCLOAK_CLIENT_ID: clientId, KEYCLOAK_ROLES_CLAIM_PATH: path }: OidcConfig) {
  return path?.split('.') ?? ['resource_access', clientId, 'roles']
}

type Wrong = { name: string; reason: string; remedy: string }

/** Settings that exclude each other, or lack another one. `given` has the names that are set. */
export function findWrongOidc(config: OidcConfig, given: Readonly<Record<string, unknown>>): Wrong[] {
  const wrong: Wrong[] = []
  const { OIDC_ISSUER: issuerUrl, OIDC_AUDIENCE: audience, OIDC_CLIENT_ID: clientId } = config
  if (config.KEYCLOAK_ENABLED && issuerUrl !== undefined)
    wrong.push({
      name: 'KEYCLOAK_ENABLED',
      reason: 'is true, and OIDC_ISSUER names a provider too',
      remedy: 'Unset OIDC_ISSUER, or set KEYCLOAK_ENABLED=false.',
    })
  if (issuerUrl !== undefined && audience === undefined && clientId === undefined)
    wrong.push({
      name: 'OIDC_ISSUER',
      reason: 'is set without OIDC_AUDIENCE, and tokens for other services would be accepted',
      remedy: 'Set OIDC_AUDIENCE to the `aud` of the tokens, or OIDC_CLIENT_ID to the client that gets them.',
    })
  if (issuerUrl !== undefined && /[?#]/.test(issuerUrl))
    wrong.push({
      name: 'OIDC_ISSUER',
      reason: 'has a query or a fragment, and is thus no issuer',
      remedy: 'Use the issuer as it is in the metadata of the provider.',
    })
  const alone = ['OIDC_AUDIENCE', 'OIDC_CLIENT_ID', 'OIDC_SCOPE_CLAIM', 'OIDC_LOGIN_CLIENT_ID'].find(
    (name) => name in given,
  )
  if (alone !== undefined && issuerUrl === undefined && !config.KEYCLOAK_ENABLED)
    wrong.push({ name: alone, reason: 'is set without OIDC_ISSUER', remedy: 'Set both or neither.' })
  return wrong
}
