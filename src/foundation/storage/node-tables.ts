/** The tables of nodes, which PostgreSQL alone has. */
import type { Generated } from 'kysely'

export type NodeTables = {
  node: {
    /** New with each start. */
    id: string
    name: string
    /** The address of the internal listener, `host:port`. */
    address: string
    release: string
    started_at: Date
    is_draining: Generated<boolean>
    /** The end of the node's lease on all its shards, by the clock of the database. */
    expires_at: Date
  }
  shard: {
    id: number
    /** The owner, whose lease may have ended. Null after a release. */
    node: string | null
    /** Increases with each new owner. */
    epoch: number
  }
  cache_version: { kind: string; version: number }
}
