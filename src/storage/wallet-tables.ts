/**
 * The tables of one wallet.
 *
 * Columns are `text` or `integer` and nothing else, so that one definition serves a SQLite file and a
 * PostgreSQL schema alike: instants are ISO 8601 in UTC, objects are JSON, flags are 0 or 1. What sorts by
 * time has a `sequence` that the writer counts up, because a clock may be set back.
 */
import type { DefinitionKeyTables } from './wallet-tables/definition-key.ts'
import type { EnterpriseTables } from './wallet-tables/enterprise-session.ts'
import type { MessageLogTables } from './wallet-tables/message-log.ts'

export interface WalletTables extends DefinitionKeyTables, EnterpriseTables, MessageLogTables {
  /** Names and values the wallet keeps about itself: `seed` and `link-secret`, sealed. */
  setting: { name: string; value: string }

  /** One row per connection, credential record or presentation record. */
  record: {
    id: string
    protocol: string
    role: string
    state: string
    /** DIDComm thread id; unique within a protocol and role. */
    thid: string
    /** JSON: the fields of the protocol's own model, see `protocols/<name>/model.ts`. */
    data: string
    created_at: string
    updated_at: string | null
    /** From when on `FLOW_EXPIRY` counts: mostly the last step. Null for a flow that has ended. */
    waits_since: string | null
  }

  /** Messages to send and tasks to run, see `outbox/job.ts`. */
  job: {
    sequence: number
    id: string
    /** Jobs of one queue run one at a time, in order of `sequence`. */
    queue: string
    kind: 'message' | 'task'
    /** JSON, see `outbox/job.ts`. */
    body: string
    attempts: number
    /** Like the other two, by `base/clock.ts`. */
    due_at: string
    /** When it was rescheduled. A value in the future means that the clock was set back; the job is then due. */
    put_off_at: string | null
    /** Why the last attempt failed. */
    reason: string | null
    created_at: string
    /** The `sequence` of the last event before it. */
    event_sequence: number
  }

  /** DIDComm messages already applied: `<sender DID> <message id>`; a second arrival is dropped. Kept for a time. */
  inbox: { id: string; received_at: string }

  /** The log of events (service §6), oldest first; webhooks read it at their own pace. */
  event: {
    sequence: number
    id: string
    type: string
    /** The thread or the DID that the event is about. */
    subject: string
    /** JSON: the REST resource as it was. */
    data: string
    ts: string
  }

  /** Who is told of events, and up to which event they have been told. */
  webhook: {
    id: string
    url: string
    /** JSON of header names and values, sealed. */
    headers: string
    /** JSON of the secrets that sign, the newest first, sealed; null when nothing is signed. See `events/signature.ts`. */
    secrets: string | null
    created_at: string
    /** The `sequence` of the last event that was delivered or given up. */
    cursor: number
    /** Failed attempts at the event after the cursor. */
    attempts: number
    due_at: string
  }

  /** Events that a webhook did not take in three attempts. This table and the next two lose their rows with the webhook or the event. */
  dead_letter: {
    webhook_id: string
    event_sequence: number
    /** The `sequence` of the attempt after which it was given up. */
    attempt: number
  }

  /** Events that a webhook is sent again: the oldest comes before the event after the webhook's cursor. */
  redelivery: {
    webhook_id: string
    event_sequence: number
    /** Failed attempts since somebody asked for the event. */
    attempts: number
    due_at: string
  }

  /** Every attempt to deliver an event, as long as the event is kept. */
  delivery_attempt: {
    sequence: number
    webhook_id: string
    /** The event's place in the log; a test event is in no log and goes with the newest event there was, if there was any. */
    event_sequence: number | null
    event_id: string
    event_type: string
    kind: 'automatic' | 'replay' | 'test'
    attempted_at: string
    duration_ms: number
    /** What the receiver answered; null when it did not. */
    status: number | null
    /** Why it was not taken; null when it was. */
    error: string | null
  }

  /** Our did:peer DIDs, one for each connection, each record that an invitation began, and each ping to a DID, and those handed over by themselves. */
  peer_did: {
    did: string
    /** JSON of the private keys by key id, sealed. */
    keys: string
    /** The record, or the ping, whose other side knows us by this DID; of nothing else's when it was handed over by itself. */
    record_id: string
    created_at: string
  }

  /** Our DIDs that have a document of their own: what issues, holds and is published. */
  did: {
    /** did:prism in its short form, or did:web. */
    did: string
    method: 'prism' | 'web'
    /** While nobody but us can tell the document of the short form; null for a did:web, and for a DID that was found again by its seed. */
    long_form: string | null
    /** Where on the seed's path its keys are (wire.md 11.3). */
    did_index: number
    status: 'CREATED' | 'PUBLICATION_PENDING' | 'PUBLISHED'
    /** JSON of the `DidState`: what the DID was made with, and then what the ledger confirmed last; of a did:web, its `DidContent`. */
    state: string
    /** The id of the operation that the ledger has not judged yet; one at a time. */
    pending_operation: string | null
    /** JSON of the problem that stands in the way of the last operation, or ended it. */
    failure: string | null
    created_at: string
    updated_at: string | null
  }

  /** The signed operations on our DIDs. */
  did_operation: {
    /** 64 hexadecimal digits: the hash of the signed operation. */
    id: string
    did: string
    kind: 'create' | 'update' | 'deactivate'
    /** Hexadecimal. */
    signed_operation: string
    /** When the ledger took it in; null before. */
    submitted_at: string | null
    created_at: string
  }

  /** The private keys of our DIDs. Which of them a DID has now is in its `state`. */
  did_key: {
    did: string
    key_id: string
    /** The operation that adds the key; it may have been rejected, and another have added a key by the same id. */
    operation_id: string
    /** KeyUsage of the operation, by number (wire.md 11.3). */
    usage: number
    curve: 'secp256k1' | 'Ed25519' | 'X25519'
    /** Position on the seed's path; null for a key that is not derived. */
    key_index: number | null
    /** JSON of the private JWK, sealed; null for a key that is derived. */
    sealed: string | null
  }

  /** Basic messages, sent and received, over connections. */
  message: {
    sequence: number
    id: string
    connection_id: string
    direction: 'sent' | 'received'
    content: string
    lang: string | null
    /** When it was sent: received, by the other side's clock, if that says so; sent, when the other side took it. */
    sent_at: string | null
    /** Why it was given up. */
    failure: string | null
    created_at: string
  }

  /** The last trust pings that were sent: over a connection, or to any DID, from a DID made for that ping alone. */
  ping: {
    sequence: number
    id: string
    /** The id of its message, which is the thread of the answer. */
    thid: string
    connection_id: string | null
    my_did: string
    /** Who was asked: nobody else's answer counts. */
    their_did: string
    sent_at: string
    answered_at: string | null
    /** Why the message was given up. */
    failure: string | null
  }

  /** The status lists of our issuing DIDs: one is filled at a time, to a half. */
  status_list: {
    /** The last part of its URL. */
    id: string
    /** Short form. */
    did: string
    /** As credentials name it, whatever the agent's address is by now. */
    url: string
    /** How many indexes are given out. */
    used: number
    /** Counts revocations. */
    revision: number
    created_at: string
  }

  /** Which place in a list a credential has; a place is never given out again. */
  status_entry: {
    list_id: string
    list_index: number
    /** The credential record. */
    record_id: string
    revoked_at: string | null
  }

  /** The credentials this wallet holds; the id is the record's. Who issued one, and whom it is about: of AnonCreds nobody that it names. */
  credential: {
    id: string
    format: string
    credential: string
    issuer: string
    subject: string | null
    created_at: string
  }

  /** The nonces, decimal and without zeros before them, of all AnonCreds proofs that this wallet has asked for: none is used twice. */
  proof_nonce: { nonce: string }

  /** What this wallet accepts when it verifies (api.md 4.12). */
  verification_policy: {
    sequence: number
    id: string
    /** How often it was updated. */
    nonce: number
    name: string
    description: string
    /** JSON of the constraints, see `verification/policies.ts`. */
    constraints: string
    created_at: string
    updated_at: string
  }
}
