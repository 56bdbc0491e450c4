/** Tenants: entities bound to wallets, and the keys that let them in (service §2.3–2.4, api.md 4.3). */
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import type { AgentDb } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { ApiKeys } from './api-keys.ts'
import type { CreateEntity, Entity } from './model.ts'
import type { Selectable } from 'kysely'
import type { AgentTables } from '../storage/agent-tables.ts'

/** The entity and the wallet that exist without being made by an administrator (api.md 3.5). */
export const defaultId = '00000000-0000-0000-0000-000000000000'

export class Tenants {
  readonly #db: AgentDb
  /** What lets them in. */
  readonly keys: ApiKeys

  constructor(db: AgentDb, agentKey: Uint8Array) {
    this.#db = db
    this.keys = new ApiKeys(db, agentKey)
  }

  /** Makes an entity. @throws {Problem} `EntityAlreadyExists`, `WalletNotFound` */
  async create({ id = newId(), name, walletId = defaultId }: CreateEntity): Promise<Entity> {
    return this.#db.transaction().execute(async (tx) => {
      if (await findEntity(tx, id))
        throw new Problem(
          'error:EntityServiceError:EntityAlreadyExists',
          `An entity with the id ${id} exists already. Leave the id out and one is made.`,
        )
      await mustHaveWallet(tx, walletId)
      const now = new Date().toISOString()
      const row = { id, name, wallet_id: walletId, created_at: now, updated_at: now }
      await tx.insertInto('entity').values(row).execute()
      return toEntity(row)
    })
  }

  /** @throws {Problem} `EntityNotFound` */
  async get(id: string): Promise<Entity> {
    return toEntity(await getEntity(this.#db, id))
  }

  /** A page of entities in the order of their making, and how many there are. */
  async list(paging: Paging): Promise<{ entities: Entity[]; total: number }> {
    const { rows, total } = await pageOf(
      this.#db.selectFrom('entity').selectAll(),
      ['created_at', 'id'],
      paging,
    )
    return { entities: rows.map(toEntity), total }
  }

  /** Gives an entity another name or another wallet. @throws {Problem} `EntityNotFound`, `WalletNotFound` */
  async update(id: string, change: { name: string } | { walletId: string }): Promise<Entity> {
    return this.keys.change(async (tx) => {
      await getEntity(tx, id)
      if ('walletId' in change) await mustHaveWallet(tx, change.walletId)
      const set = 'name' in change ? { name: change.name } : { wallet_id: change.walletId }
      await tx
        .updateTable('entity')
        .set({ ...set, updated_at: new Date().toISOString() })
        .where('id', '=', id)
        .execute()
      return toEntity(await getEntity(tx, id))
    })
  }

  /** Removes an entity and lets nobody in with its keys any more; the wallet stays. @throws {Problem} `EntityNotFound` */
  async delete(id: string): Promise<void> {
    await this.keys.change(async (tx) => {
      const { numDeletedRows } = await tx.deleteFrom('entity').where('id', '=', id).executeTakeFirst()
      if (numDeletedRows === 0n) throw entityNotFound(id)
      await tx
        .updateTable('api_key')
        .set({ revoked_at: new Date().toISOString() })
        .where('entity_id', '=', id)
        .where('revoked_at', 'is', null)
        .execute()
    })
  }
}

async function mustHaveWallet(db: AgentDb, id: string): Promise<void> {
  const wallet = await db.selectFrom('wallet').select('id').where('id', '=', id).executeTakeFirst()
  if (!wallet)
    throw new Problem(
      'error:EntityServiceError:WalletNotFound',
      `There is no wallet ${id}. Create one first with POST /wallets and name it in walletId.`,
    )
}

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
