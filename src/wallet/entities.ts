/** Entities: the owners of API keys, each bound to a wallet. */
import type { Selectable } from 'kysely'
import { Problem } from '../foundation/problem.ts'
import type { AgentTables } from '../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import type { Entity } from './model.ts'

type EntityRow = Selectable<AgentTables['entity']>

export function findEntity(db: AgentDb, id: string): Promise<EntityRow | undefined> {
  return db.selectFrom('entity').selectAll().where('id', '=', id).executeTakeFirst()
}

/** @throws {Problem} `EntityNotFound` */
export async function getEntity(db: AgentDb, id: string): Promise<EntityRow> {
  const row = await findEntity(db, id)
  if (!row) throw entityNotFound(id)
  return row
}

export function entityNotFound(id: string): Problem {
  return new Problem('error:EntityServiceError:EntityNotFound', `There is no entity ${id}.`)
}

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
