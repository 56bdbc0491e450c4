/** Everything outside of a wallet that its operations need. One value, shared by all wallets of an agent. */
import type { AnonCredsEnvironment } from '../credentials/anoncreds/environment.ts'
import type { ListType } from '../credentials/codecs/token-status-list.ts'
import type { Config } from '../foundation/config/config.ts'
import type { Log } from '../foundation/log.ts'
import type { Metrics } from '../foundation/metrics.ts'
import type { Resolver } from '../did/resolver.ts'
import type { Destinations } from '../foundation/net/destinations.ts'
import type { HttpClient } from '../foundation/net/http-client.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import type { ChangeTopic } from '../foundation/storage/tx-context.ts'
import type { EntryMemory } from '../did/ledger/entry-memory.ts'
import type { Ledger } from '../did/ledger/ledger.ts'
import type { OfferLimit, RenewalLimit, ReplyLimit } from './quotas.ts'
import type { ShortLinks } from './short-links.ts'
import type { WalletTokens } from './wallet-tokens.ts'
import type { WriteBarrier } from './write-barrier.ts'

export type Environment = AnonCredsEnvironment & {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  /** The database that all tenants share. Only for reading. */
  readonly db: AgentDb
  /** Public base URLs, without a slash at the end. */
  readonly urls: { readonly rest: string; readonly didcomm: string }
  readonly resolver: Resolver
  readonly ledger: Ledger
  /** The VDR entries in memory, if that driver is enabled. */
  readonly entryMemory: EntryMemory | undefined
  /** For addresses that a tenant or a peer names. */
  readonly http: HttpClient
  /** For addresses that the operator has configured: it may also reach private networks. */
  readonly operatorHttp: HttpClient
  /** Limits how many deliveries run at once to each destination. */
  readonly destinations: Destinations
  readonly limitReplies: ReplyLimit
  readonly limitOffers: OfferLimit
  readonly limitOpen: OfferLimit
  readonly limitRenewals: RenewalLimit
  /** The JSON schema of claims at a URL or DID URL. @throws {Problem} 422 when it cannot be loaded. */
  getSchema(url: string): Promise<unknown>
  /**
   * As `getSchema`, in its published form, with the registry's record around it if there is one.
   *
   * @throws {Problem} as `getSchema`.
   */
  readSchema(url: string): Promise<{ schema: Record<string, unknown>; record?: Record<string, unknown> }>
  /**
   * The status list at a URL, not verified; `type` is the type of the credential's status entry. See
   * `credential-status/read.ts`.
   */
  getStatusList(url: string, type: ListType): Promise<string>
  /**
   * What the short URL of an invitation, DID request or challenge returns: JSON, or the URL that contains the
   * invitation.
   *
   * @throws {Problem} `RetrievalFailed`
   */
  retrieve(url: URL): Promise<unknown>
  readonly tokens: WalletTokens
  readonly shortLinks: ShortLinks
  readonly writeBarrier: WriteBarrier
  /** Which wallets this process may use. */
  readonly ownership: Ownership
  /** Called after a commit with changes: it notifies of them, and wakes the worker. */
  onCommit(walletId: string, changes: Iterable<ChangeTopic>): void
}
