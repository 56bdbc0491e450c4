/**
 * The tables of a wallet's file.
 *
 * Columns have the type `text` or `integer`. Dates are ISO 8601 in UTC, objects are JSON, flags are 0 or 1.
 * Rows that are listed in the order of their creation have a `sequence` that the writer increments, because
 * the system clock may be set back.
 */
import type { Generated } from 'kysely'
import type { ManagedName } from '../../definitions/did-names.ts'
import type { EventTables } from './event-tables.ts'
import type { IssuanceTables } from './issuance-tables.ts'
import type { IssuerTables } from './issuer-tables.ts'

export interface WalletTables extends EventTables, IssuanceTables, IssuerTables {
  /** Named values of the wallet, such as `seed` and `link-secret`, which are sealed. */
  setting: { name: string; value: string }

  /** One row for each connection, credential record and presentation record. */
  record: {
    id: string
    protocol: string
    role: string
    state: string
    /** Of DIDComm: one record for each protocol and role. Of OpenID4VCI: the id of the grant. */
    thid: string
    /** JSON of the protocol's own model, see `protocols/<name>/model.ts`. */
    data: string
    created_at: string
    updated_at: string | null
    /** The start of `FLOW_EXPIRY`: the last step, or the end of the invitation. Null after the flow's end. */
    waits_since: string | null
    /** The id of the short link to the record's own invitation. */
    short_id: string | null
    /** Among the records of the thread, from 0. Only a grant has several. */
    place: number
  }

  /** Messages to send and tasks to run, see `outbox/job.ts`. */
  job: {
    sequence: number
    id: string
    /** Jobs of one queue run one at a time, in the order of `sequence`. */
    queue: string
    kind: 'message' | 'task'
    /** JSON, see `outbox/job.ts`. */
    body: string
    attempts: number
    /** This date, `put_off_at` and `created_at` are by `steadyNow` (`foundation/clock.ts`). */
    due_at: string
    /** When the job was rescheduled. In the future: the clock was set back, and the job is due. */
    put_off_at: string | null
    /** Why the last attempt failed. */
    reason: string | null
    created_at: string
    /** The `sequence` of the last event before the job. */
    event_sequence: number
  }

  /**
   * Received DIDComm messages, as `<sender DID> <message id>`, so that a duplicate is dropped. Rows are
   * deleted after a time.
   */
  inbox: { rowid: Generated<number>; id: string; received_at: string }

  /**
   * The wallet's did:peer DIDs: one for each connection, connectionless record and ping to a DID, and those
   * that a tenant requested.
   */
  peer_did: {
    did: string
    /** JSON of private keys by key id, sealed. */
    keys: string
    /** The record or ping whose other side knows the DID; a separate id for a DID that a tenant requested. */
    record_id: string
    created_at: string
  }

  /** The wallet's own DIDs: did:prism, did:web, did:key and did:jwk. Peer DIDs are in `peer_did`. */
  did: {
    /** did:prism in its short form. */
    did: string
    method: ManagedName
    /** Null for other methods than did:prism, and for a did:prism that was recovered from the seed. */
    long_form: string | null
    /** The DID's part of the derivation path of its keys. */
    did_index: number
    status: 'CREATED' | 'PUBLICATION_PENDING' | 'PUBLISHED'
    /**
     * JSON of the `DidState`: as created, then as last confirmed by the ledger. For other methods, its
     * `DidContent`.
     */
    state: string
    /** The operation that the ledger has not confirmed yet. There is at most one. */
    pending_operation: string | null
    /** JSON of the problem that delays or ended the last operation. */
    failure: string | null
    /** The wallet's name for the DID, which is not in its document. Null: it has none. */
    label: string | null
    created_at: string
    updated_at: string | null
  }

  /** The signed operations of the wallet's did:prism DIDs. */
  did_operation: {
    /** The SHA-256 of the signed operation, 64 hexadecimal digits. */
    id: string
    did: string
    kind: 'create' | 'update' | 'deactivate'
    /** Hexadecimal. */
    signed_operation: string
    /** When the ledger accepted it; null before. */
    submitted_at: string | null
    created_at: string
  }

  /** The private keys of the wallet's managed DIDs. The `state` of a DID names its current keys. */
  did_key: {
    did: string
    key_id: string
    /** The operation that adds the key. Operations that the ledger rejected may have used the same key id. */
    operation_id: string
    /** KeyUsage of the did:prism specification, as a number. */
    usage: number
    curve: 'secp256k1' | 'P-256' | 'Ed25519' | 'X25519'
    /** The key's part of the derivation path; null for a random key. */
    key_index: number | null
    /** JSON of the private JWK, sealed; null for a derived key. */
    sealed: string | null
  }

  /** Private keys of AnonCreds credential definitions. */
  definition_key: {
    /** The definition in the registry (`credential_definition` of `agent.db`). */
    guid: string
    /** JSON, sealed, see `anoncreds/model.ts`. */
    sealed: string
    created_at: string
  }

  /** Basic messages of connections. */
  message: {
    sequence: number
    id: string
    connection_id: string
    direction: 'sent' | 'received'
    content: string
    lang: string | null
    /** For a received message, the date that the sender states; for a sent one, the date of its delivery. */
    sent_at: string | null
    /** Why sending was abandoned. */
    failure: string | null
    created_at: string
  }

  /** The newest trust pings, to connections and to other DIDs. A ping to another DID has a DID of its own. */
  ping: {
    sequence: number
    id: string
    /** The id of the ping message, which is the thread of its response. */
    thid: string
    connection_id: string | null
    my_did: string
    /** Responses of other DIDs are ignored. */
    their_did: string
    sent_at: string
    answered_at: string | null
    /** Why sending was abandoned. */
    failure: string | null
  }

  /** DID requests and authentication challenges. Each has a public link that accepts one answer. */
  enterprise_session: {
    sequence: number
    id: string
    product: 'onboard' | 'authenticate'
    /** The last part of the link. */
    submission_id: string
    /** The id of the short link. Null in rows of release 0.1.0. */
    short_id: string | null
    /** The name of the sender, for the other side. */
    from_label: string | null
    /** The text to sign; null for a DID request. */
    nonce: string | null
    state: 'pending' | 'success' | 'error'
    did: string | null
    /** The end of the link by the system's clock, for display. */
    expire_at: string
    /** The beginning and end of the link by `steadyNow`, which decide. */
    begins: string
    ends: string
    /** When the answer arrived. */
    submitted_at: string | null
    /** The date by `steadyNow` until which a success can be exchanged for a token; null when it cannot. */
    token_until: string | null
    /** The DID that must answer; null for any. */
    expected_did: string | null
    /** Null without an answer, and in rows of earlier releases. */
    answered_by: 'submission' | 'openid4vp' | null
    /** JSON of `SessionOpenId4Vp`: the request to wallets of OpenID4VP, and its result. Null if there is none. */
    openid4vp: string | null
    created_at: string
    updated_at: string
  }

  /** The status lists of issuers. A new list begins when half of the indexes are assigned. */
  status_list: {
    /** The last part of the list's URL. */
    id: string
    /** The issuing DID in its short form, or the id of an issuer certificate. */
    did: string
    /** The URL in credentials, which stays the same when the agent's address changes. */
    url: string
    /** The number of assigned indexes. */
    used: number
    /** The number of revocations. */
    revision: number
    created_at: string
    /**
     * The only form of a list of SD-JWT VCs, or of one that is a VDR entry on the ledger. Empty: the list is
     * served in all forms.
     */
    media: string
    /**
     * Of a list on the ledger: the revision that was written last, the last operation, and when it was
     * submitted.
     */
    written_revision: number | null
    operation_id: string | null
    submitted_at: string | null
  }

  /** The index that each credential has in a status list. An index is assigned once. */
  status_entry: {
    list_id: string
    list_index: number
    /** The credential record, which has several credentials after a batch of OpenID4VCI. */
    record_id: string
    revoked_at: string | null
    /** When it is revoked, after a renewal with other claims. Null: that is not planned. */
    revoke_at: string | null
  }

  /**
   * The credentials that the wallet holds. The id is that of the record. An AnonCreds credential names no
   * subject.
   */
  credential: {
    id: string
    format: string
    credential: string
    issuer: string
    subject: string | null
    created_at: string
  }

  /**
   * The nonces of all AnonCreds proof requests of the wallet, decimal without leading zeros, so that none is
   * used twice.
   */
  proof_nonce: { nonce: string }

  /** The wallet's verification policies. */
  verification_policy: {
    sequence: number
    id: string
    /** The number of updates. */
    nonce: number
    name: string
    description: string
    /** JSON, see `verification/policies.ts`. */
    constraints: string
    created_at: string
    updated_at: string
  }
}
