/** The tables of the audit log, in a file of its own, so that nobody who writes to another waits for it. */

/** What is known of an act before it is done. Columns are as in `wallet-tables.ts`. */
interface Act {
  /** When it was begun. */
  at: string
  actor: string
  entity_id: string | null
  key_id: string | null
  address: string | null
  action: string
  wallet_id: string | null
  /** JSON: ids of what it is about, by their names. */
  subject: string | null
  request_id: string | null
}

export interface AuditTables {
  /** What was done, or refused: a chain, in which each entry holds the digest of the one before. */
  entry: Act & {
    sequence: number
    outcome: string
    status: number | null
    problem_type: string | null
    /** For how many requests it stands, where it does for more than one. */
    count: number | null
    previous: string
    digest: string
  }

  /** What was begun and has no entry yet. */
  begun: Act & { id: string; /** HMAC of the other columns. */ mac: string }
}
