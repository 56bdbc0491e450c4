/**
 * All rows that belong to no wallet: the tables of each shared database, with their keys. Tables come after
 * those that their rows refer to.
 */
import { sql, type Kysely } from 'kysely'
import type { AgentTables } from '../agent-tables.ts'
import type { AuditTables } from '../audit-tables.ts'
import type { MediatorTables } from '../mediator-tables.ts'
import type { CopiedTable } from './copy-rows.ts'

type Keys<Tables> = Record<keyof Tables, CopiedTable['key']>

const agentKeys = {
  setting: ['name'],
  wallet: ['id'],
  entity: ['id'],
  api_key: ['digest'],
  wallet_permission: ['issuer', 'subject', 'wallet_id'],
  web_did: ['did'],
  presentation_definition: ['sequence'],
  vdr_entry: ['id'],
  credential_schema: ['guid'],
  credential_schema_tag: ['guid', 'tag'],
  wallet_alias: ['token', 'kind'],
  credential_definition: ['guid'],
  credential_issuer: ['id'],
  credential_configuration: ['issuer_id', 'id'],
  credential_media: ['issuer_id', 'digest'],
  credential_type: ['issuer_id', 'configuration_id', 'version'],
} as const satisfies Keys<AgentTables>

const auditKeys = { entry: ['sequence'], begun: ['id'] } as const satisfies Keys<AuditTables>

const mediatorKeys = {
  identity: ['did'],
  account: ['did'],
  recipient: ['did'],
  message: ['sequence'],
  seen: ['sequence'],
} as const satisfies Keys<MediatorTables>

const ledgerKeys = {
  operation: ['sequence'],
  master_key: ['public_key', 'sequence'],
  storage_event: ['hash'],
} as const

/** Tables whose names differ in PostgreSQL, where all tables are in one schema. */
export const agentNames: Record<string, string> = { setting: 'agent_setting' }
export const mediatorNames: Record<string, string> = { message: 'mediator_message' }

function toTables(
  keys: Record<string, CopiedTable['key']>,
  names: Record<string, string> = {},
): readonly CopiedTable[] {
  return Object.entries(keys).map(([name, key]) => {
    const postgresName = names[name]
    return { name, key, isShared: true, ...(postgresName !== undefined && { postgresName }) }
  })
}

export const copiedAgentTables = toTables(agentKeys, agentNames)
export const copiedAuditTables = toTables(auditKeys)
export const copiedMediatorTables = toTables(mediatorKeys, mediatorNames)
export const copiedLedgerTables = toTables(ledgerKeys)

/** Tables whose `sequence` PostgreSQL generates. */
const generated = ['mediator_message', 'seen', 'operation']

/**
 * Has the next generated `sequence` of each table follow its last row. Its effect is not undone by a
 * rollback, and harmless then.
 */
export async function continueSequences(db: Kysely<any>): Promise<void> {
  for (const table of generated)
    await sql`select setval(pg_get_serial_sequence(${table}, 'sequence'), (select coalesce(max(sequence), 0) + 1 from ${sql.table(table)}), false)`.execute(
      db,
    )
}
