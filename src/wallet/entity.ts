/** Entities as they are kept: looked up, and shown (service §2.3). */
import type { Selectable } from 'kysely'
import { Problem } from '../base/problem.ts'
import type { AgentTables } from '../storage/agent-tables.ts'
import type { AgentDb } from '../storage/database.ts'
import type { Entity } from './model.ts'

export type EntityRow = Selectable<AgentTables['entity']>

/** The row of an entity, if there is one. */
export function findEntity(db: AgentDb, id: string): Promise<EntityRow | undefined> {
  return db.selectFrom('entity').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The row of an entity. @throws {Problem} `EntityNotFound` */
export async function getEntity(db: AgentDb, id: string): Promise<EntityRow> {
  const row = await findEntity(db, id)
  if (!row) throw entityNotFound(id)
  return row
}

export function entityNotFound(id: string): Problem {
  return new Problem('error:EntityServiceError:EntityNotFound', `There is no entity ${id}.`)
}

/** An entity as REST shows it (api.md 4.3). */
export function toEntity(row: EntityRow): Entity {
  return {
    kind: 'Entity',
    self: `/iam/entities/${row.id}`,
    id: row.id,
    name: row.name,
    walletId: row.wallet_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
