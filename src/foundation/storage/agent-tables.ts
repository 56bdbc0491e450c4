/** The tables of `agent.db`: the data that all tenants share. Columns are as in `wallet-tables.ts`. */

export interface AgentTables {
  /** Named values of the agent. */
  setting: { name: string; value: string }

  /** One row for each wallet. */
  wallet: {
    id: string
    name: string
    /** The wallet's key, sealed with the agent key. */
    wrapped_key: string
    /** A keyed digest of the seed, so that no two wallets have the same seed. */
    seed_digest: string
    created_at: string
    updated_at: string
    /** When the wallet was exported for transfer to another agent. It is suspended here since then. */
    moved_at: string | null
    /**
     * The name in `wallets/transit` of an imported file. As long as that file exists, it must replace the
     * wallet's file.
     */
    arrived: string | null
    /** 1, 2, 3 and so on, unique. It is part of short links, see `wallet/short-links.ts`. */
    number: number
  }

  /**
   * Tokens in addresses that another agent issued for an imported wallet. Tokens of this agent contain the
   * wallet id or number.
   */
  wallet_alias: {
    token: string
    kind: 'mailbox' | 'status-list' | 'crl' | 'onboard' | 'authenticate' | 'short-link'
    wallet_id: string
  }

  /** Tenants. */
  entity: { id: string; name: string; wallet_id: string; created_at: string; updated_at: string }

  /**
   * API keys of tenants, as keyed digests. The row of a deleted tenant's key stays, so that no other tenant
   * gets the key.
   */
  api_key: {
    digest: string
    id: string
    entity_id: string
    name: string | null
    /** JSON, see `wallet/api-keys.ts`. Null means all scopes. */
    scopes: string | null
    created_at: string
    /** Accurate to a minute. */
    last_used_at: string | null
    expires_at: string | null
    revoked_at: string | null
  }

  /** The wallets that subjects of the OpenID provider may use (`bearer-tokens/permissions.ts`). */
  wallet_permission: { issuer: string; subject: string; wallet_id: string; created_at: string }

  /** The did:web DIDs whose documents this agent serves. Each belongs to one wallet. */
  web_did: { did: string; wallet_id: string; created_at: string }

  /** Presentation definitions, which are public. */
  presentation_definition: {
    sequence: number
    id: string
    wallet_id: string
    /** JSON, see `verification/presentation-definitions.ts`. */
    definition: string
    created_at: string
  }

  /** VDR entries of the driver `database`, which are public. */
  vdr_entry: {
    id: string
    wallet_id: string
    /** base64 */
    content: string
    created_at: string
    updated_at: string
  }

  /** Credential schemas. A row never changes: a new version is a new row with the same `id`. */
  credential_schema: Registered & {
    type: string
    /** JSON. */
    schema: string
    /** JSON array, in the order of the author. */
    tags: string
    /** JSON, when the author has signed the schema. */
    proof: string | null
  }

  /** The tags of schemas again, for queries. */
  credential_schema_tag: { guid: string; tag: string }

  /** Definitions of AnonCreds credentials. The private key is in the wallet (`definition_key`). */
  credential_definition: Registered & {
    tag: string
    /** The URL of the AnonCreds schema. */
    schema_id: string
    /** JSON array: the attribute names of the schema, in their order. */
    attributes: string
    /** 0 or 1, as the author has set it. Not used. */
    support_revocation: number
    /** JSON; null until the key is generated. */
    definition: string | null
    /** JSON; null until the key is generated. */
    key_correctness_proof: string | null
  }

  /** OpenID4VCI issuers. Their metadata is public. */
  credential_issuer: {
    sequence: number
    id: string
    wallet_id: string
    /** The URL of an external authorization server. Null: this agent authorizes. */
    authorization_server: string | null
    client_id: string | null
    /** Sealed with the key of the wallet. */
    client_secret: string | null
    /** The issuer certificate of the wallet that signs the metadata. */
    certificate_id: string | null
    /** JSON of the key for encrypted requests, see `oid4vci/encryption-key.ts`. Null until it is first read. */
    encryption_key: string | null
    /** 0 or 1: whether wallets must encrypt requests and get encrypted responses. */
    encryption_required: number
    /** 0 or 1: whether its bearer tokens live longer at the deferred endpoint. */
    bearer_deferral: number
    created_at: string
    /** JSON of the trusted wallet providers, see `oid4vci/wallet-providers.ts`. Null: none. */
    wallet_providers: string | null
    /** JSON of its name and logo for people, see `oid4vci/display.ts`. Null: none. */
    display: string | null
    /** JSON of the provider where people log in, see `oid4vci/log-in/settings.ts`. Null: none. */
    log_in: string | null
    /** JSON of the secrets that sign requests to claims sources, sealed. Null: none. */
    claims_secrets: string | null
    /** JSON of its messages, see `oid4vci/delivery-texts.ts`. Null: those of the agent. */
    delivery_texts: string | null
  }

  /** The credentials that an issuer offers. */
  credential_configuration: {
    issuer_id: string
    /** Chosen by the tenant, unique for the issuer. */
    id: string
    wallet_id: string
    /** A format identifier of OpenID4VCI. */
    format: string
    schema_id: string
    /** The type of SD-JWT VCs that the tenant chose. Null: the URL of the type metadata. */
    vct: string | null
    /** The issuer certificate of the wallet that signs. Null: the offer names a DID. */
    certificate_id: string | null
    /** JSON of the names of the schema's properties, see `oid4vci/configurations.ts`. */
    claims: string
    created_at: string
    /** JSON of the key attestation that a request needs, see `oid4vci/key-attestation.ts`. Null: none. */
    key_attestation: string | null
    /** JSON of its name and look for people, see `oid4vci/display.ts`. Null: none. */
    display: string | null
    /** JSON of what begins an issuance, see `oid4vci/configuration-access.ts`. Null: an offer. */
    access: string | null
    /** The DID that signs, unless an offer names another. Null: each offer names one. */
    issuing_did: string | null
    /** JSON of the type of a document, see `formats/mdoc/document-type.ts`. Null: another format. */
    document: string | null
    /** JSON of its claims source, see `oid4vci/claims-source.ts`. Null: none. */
    claims_source: string | null
    /** JSON of what else is set, see `oid4vci/configuration-settings.ts`. Null: nothing. */
    settings: string | null
  }

  /** The pictures of an issuer, which are public. */
  credential_media: {
    issuer_id: string
    /** SHA-256 in hexadecimal. */
    digest: string
    wallet_id: string
    media_type: string
    /** base64 */
    content: string
    created_at: string
  }

  /**
   * The type metadata whose digests are in credentials, or in offers. A row stays when its configuration and
   * its issuer are deleted, and its document never changes.
   */
  credential_type: {
    issuer_id: string
    configuration_id: string
    version: number
    wallet_id: string
    /** JSON as it is served. Null: of an earlier release; it follows from the configuration. */
    document: string | null
    created_at: string
  }
}

/** The common columns of both registries. */
export interface Registered {
  /** A UUID of version 3, derived from author, id and version. */
  guid: string
  /** A UUID of version 7: its order is the order of creation. */
  position: string
  id: string
  wallet_id: string
  /** A DID, as the author sent it. */
  author: string
  name: string
  /** Semantic version. */
  version: string
  /** Empty when the author gave none. */
  description: string
  /** `http` or `did`. */
  resolution_method: string
  authored: string
}
