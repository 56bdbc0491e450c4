/**
 * The OpenID providers where people log in: their metadata and keys (OpenID Connect Discovery 1.0 §3, §4).
 * The tenant names the provider, so requests go through the guarded HTTP client.
 */
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { ifValid, parseForeign } from '../../../foundation/foreign.ts'
import type { HttpClient } from '../../../foundation/net/http-client.ts'
import { createProvider, type Provider } from '../../../wallet/bearer-tokens/provider.ts'
import type { Wallet } from '../../../wallet/wallet.ts'

const Endpoint = z.url({ protocol: /^https?$/ }).max(2_000)

const Metadata = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: Endpoint,
  token_endpoint: Endpoint,
  userinfo_endpoint: ifValid(Endpoint),
  token_endpoint_auth_methods_supported: ifValid(z.array(z.string())),
  authorization_response_iss_parameter_supported: ifValid(z.boolean()),
})
export type ProviderMetadata = z.infer<typeof Metadata>

export type LogInProvider = { metadata: ProviderMetadata; findKey: Provider['findKey'] }

/** Metadata and keys by issuer, for each HTTP client. They are public. */
const known = new WeakMap<HttpClient, LRUCache<string, Provider>>()

/**
 * The provider with an issuer identifier, whose metadata name exactly that identifier (Discovery §4.3).
 *
 * @throws {Problem} 503 if it cannot be asked, {z.ZodError} for metadata without what a log-in needs
 */
export async function getProvider(
  { env: { http, config } }: Pick<Wallet, 'env'>,
  issuer: string,
): Promise<LogInProvider> {
  const providers = known.get(http) ?? new LRUCache<string, Provider>({ max: 100 })
  known.set(http, providers)
  const settings = {
    issuer,
    keysLifetimeSeconds: config.OIDC_KEYS_LIFETIME,
    keysRefreshSeconds: config.OIDC_KEYS_REFRESH,
  }
  const provider = providers.get(issuer) ?? createProvider({ http, settings })
  providers.set(issuer, provider)
  const metadata = parseForeign(Metadata, await provider.getMetadata())
  const endpoints = [metadata.authorization_endpoint, metadata.token_endpoint, metadata.userinfo_endpoint]
  if (issuer.startsWith('https:') && endpoints.some((url) => url?.startsWith('http:')))
    throw new z.ZodError([])
  return { metadata, findKey: provider.findKey }
}
