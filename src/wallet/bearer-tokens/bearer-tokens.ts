/** Bearer tokens of the operator's OpenID provider: from a token to a subject, its role and its wallets. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type OidcSettings, oidcSettingsOf } from '../../foundation/config/oidc.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { createProvider } from './provider.ts'
import { verifyToken, type Identity } from './verify.ts'

export type BearerTokens = {
  readonly settings: OidcSettings
  /** @throws {Problem} `InvalidCredentials`, `InvalidRole`, `ServiceUnavailable` */
  verify(token: string): Promise<Identity>
  /** Notes the wallet that a verified token has used. */
  noteWallet(token: string, wanted: string | undefined, walletId: string): void
  /**
   * The wallet that a token has used lately. The token may be invalid by now: for the queue and the node of a
   * request, not for its rights.
   */
  peekWallet(token: string, wanted: string | undefined): string | undefined
}

/** Undefined: the operator accepts no bearer tokens. */
export function createBearerTokens(
  config: Parameters<typeof oidcSettingsOf>[0],
  http: Pick<HttpClient, 'getJson'>,
): BearerTokens | undefined {
  const settings = oidcSettingsOf(config)
  if (!settings) return undefined
  const provider = createProvider({ http, settings })
  const wallets = new LRUCache<string, string>({ max: 10_000 })
  const digest = (token: string, wanted = '') =>
    createHash('sha256').update(`${token} ${wanted}`).digest('base64')
  return {
    settings,
    verify: (token) => verifyToken(token, provider, settings),
    noteWallet: (token, wanted, walletId) => void wallets.set(digest(token, wanted), walletId),
    peekWallet: (token, wanted) => wallets.get(digest(token, wanted)),
  }
}
