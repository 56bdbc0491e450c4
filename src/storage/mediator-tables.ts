/**
 * The tables of the mediator role, in a file of its own: what they hold belongs to no wallet of this agent.
 *
 * Columns are as in `wallet-tables.ts`. DIDs are in the form that `mediator/handler.ts` gives them, so that one recipient is one row.
 */
import type { Generated } from 'kysely'

export interface MediatorTables {
  /** The DIDs this mediator has had: one for each address it was reached at, since a did:peer cannot change. */
  identity: {
    did: string
    /** The address that its services name. */
    url: string
    /** JSON of private keys by key id, sealed. */
    keys: string
    created_at: string
  }

  /** Who is enrolled. */
  account: {
    did: string
    created_at: string
    /** When the account was last heard of, or listened, to within some hours. */
    seen_at: string
  }

  /** Whom a message is for, and which account picks it up. */
  recipient: { did: string; account: string; created_at: string }

  /** What waits to be picked up. */
  message: {
    sequence: Generated<number>
    /** SHA-256 of the envelope, hexadecimal: the id under which it is delivered and acknowledged. */
    id: string
    recipient: string
    account: string
    /** The packed message, JSON text. */
    envelope: string
    /** Length of the envelope's UTF-8. */
    bytes: number
    received_at: string
  }

  /** Envelopes that were taken, by digest; the newest ones. */
  seen: { sequence: Generated<number>; digest: string }
}
