/** The tables of the agent itself: who its tenants are, and what all of them share. */
import type { CredentialDefinitionTables } from './agent-tables/credential-definition.ts'
import type { CredentialSchemaTables } from './agent-tables/credential-schema.ts'
import type { WalletAliasTables } from './agent-tables/wallet-alias.ts'

export interface AgentTables extends CredentialSchemaTables, CredentialDefinitionTables, WalletAliasTables {
  /** Names and values the agent keeps about itself. */
  setting: { name: string; value: string }

  /** One row per wallet file. */
  wallet: {
    id: string
    name: string
    /** The wallet's own key, sealed with the agent key. */
    wrapped_key: string
    /** A keyed digest of the seed, so that no seed is used twice. */
    seed_digest: string
    created_at: string
    updated_at: string
    /** When it was exported to go on elsewhere: it rests here. */
    moved_at: string | null
    /** The name that its file had in `wallets/transit` when it was imported. If there is such a file still, it takes the place of the other. */
    arrived: string | null
  }

  /** Tenants (service §2.3). */
  entity: { id: string; name: string; wallet_id: string; created_at: string; updated_at: string }

  /** The did:web DIDs whose documents this agent serves, each taken by one wallet. */
  web_did: { did: string; wallet_id: string; created_at: string }

  /** Presentation definitions, which anybody may read who knows their id (api.md 4.14). */
  presentation_definition: {
    sequence: number
    id: string
    wallet_id: string
    /** JSON, see `verification/presentation-definition.ts`. */
    definition: string
    created_at: string
  }

  /** What a tenant shows to be let in: keyed digests, never keys. */
  api_key: {
    digest: string
    id: string
    entity_id: string
    name: string | null
    /** JSON, see `wallet/api-key.ts`; null: everything. */
    scopes: string | null
    created_at: string
    /** To the minute. */
    last_used_at: string | null
    expires_at: string | null
    revoked_at: string | null
  }
}
