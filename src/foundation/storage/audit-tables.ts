/**
 * The tables of `audit.db`. It is a file of its own, so that its writes block no other writes. Columns are as
 * in `wallet-tables.ts`.
 */

/** The columns that are known before an action is done. */
interface Action {
  /** When the action began. */
  at: string
  actor: string
  entity_id: string | null
  key_id: string | null
  /** The issuer and the subject of the bearer token. */
  issuer: string | null
  login: string | null
  address: string | null
  action: string
  wallet_id: string | null
  /** JSON object: names and ids of the affected objects. */
  subject: string | null
  request_id: string | null
}

export interface AuditTables {
  /** Actions that were done or refused, as a hash chain: each entry holds the digest of the previous one. */
  entry: Action & {
    sequence: number
    outcome: string
    status: number | null
    problem_type: string | null
    /** The number of requests of a combined entry. */
    count: number | null
    previous: string
    digest: string
  }

  /** Actions that began and have no entry yet. */
  begun: Action & {
    id: string
    /** The name of the process that does the act; empty if there is only one. */
    process: string
    /** HMAC of the other columns. */
    mac: string
  }
}
