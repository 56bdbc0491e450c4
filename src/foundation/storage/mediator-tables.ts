/**
 * The tables of `mediator.db`, whose data belongs to no wallet of this agent. Columns are as in
 * `wallet-tables.ts`. DIDs have the canonical form of `mediator/handler.ts`, so that a recipient has one row.
 */
import type { Generated } from 'kysely'

export interface MediatorTables {
  /** The DIDs of the mediator: one for each public address that it has had, since a did:peer cannot change. */
  identity: {
    did: string
    /** The address in its services. */
    url: string
    /** JSON of private keys by key id, sealed. */
    keys: string
    created_at: string
  }

  /** Enrolled wallets. */
  account: {
    did: string
    created_at: string
    /** The last activity, accurate to some hours. */
    seen_at: string
  }

  /** Recipient DIDs, each with the account that picks up its messages. */
  recipient: { did: string; account: string; created_at: string }

  /** Messages that wait to be picked up. */
  message: {
    sequence: Generated<number>
    /** SHA-256 of the envelope, hexadecimal: the id in deliveries and acknowledgements. */
    id: string
    recipient: string
    account: string
    /** The packed message, as JSON text. */
    envelope: string
    /** The length of the envelope in UTF-8. */
    bytes: number
    received_at: string
  }

  /** Digests of the newest accepted envelopes. */
  seen: { sequence: Generated<number>; digest: string }
}
