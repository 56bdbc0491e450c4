/** Tenants: entities, each bound to a wallet, with API keys that authenticate them. */
import { newId } from '../foundation/id.ts'
import { Problem } from '../foundation/problem.ts'
import type { Broadcast } from '../cluster/broadcast.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { pageOf, type Paging } from '../foundation/storage/list-query.ts'
import { ApiKeys } from './api-keys.ts'
import { entityNotFound, findEntity, getEntity, toEntity } from './entities.ts'
import type { CreateEntity, Entity } from './model.ts'

/** The id of the default entity and of the default wallet, which the agent creates itself. */
export const defaultId = '00000000-0000-0000-0000-000000000000'

export class Tenants {
  readonly #db: AgentDb
  readonly keys: ApiKeys

  constructor(db: AgentDb, agentKey: Uint8Array, broadcast: Broadcast) {
    this.#db = db
    this.keys = new ApiKeys(db, agentKey, broadcast)
  }

  /** @throws {Problem} `EntityAlreadyExists`, `WalletNotFound` */
  async create({ id = newId(), name, walletId = defaultId }: CreateEntity): Promise<Entity> {
    return this.#db.transaction().execute(async (tx) => {
      if (await findEntity(tx, id))
        throw new Problem(
          'error:EntityServiceError:EntityAlreadyExists',
          `An entity with the id ${id} exists already. Omit the id to get a new one.`,
        )
      await assertWalletExists(tx, walletId)
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

  /** A page of entities, oldest first. */
  async list(paging: Paging): Promise<{ entities: Entity[]; total: number }> {
    const { rows, total } = await pageOf(
      this.#db.selectFrom('entity').selectAll(),
      ['created_at', 'id'],
      paging,
    )
    return { entities: rows.map(toEntity), total }
  }

  /** Changes the name or the wallet of an entity. @throws {Problem} `EntityNotFound`, `WalletNotFound` */
  async update(id: string, change: { name: string } | { walletId: string }): Promise<Entity> {
    return this.keys.change(async (tx) => {
      await getEntity(tx, id)
      if ('walletId' in change) await assertWalletExists(tx, change.walletId)
      const set = 'name' in change ? { name: change.name } : { wallet_id: change.walletId }
      await tx
        .updateTable('entity')
        .set({ ...set, updated_at: new Date().toISOString() })
        .where('id', '=', id)
        .execute()
      return toEntity(await getEntity(tx, id))
    })
  }

  /** Deletes an entity and revokes its keys. The wallet stays. @throws {Problem} `EntityNotFound` */
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

async function assertWalletExists(db: AgentDb, id: string): Promise<void> {
  const wallet = await db.selectFrom('wallet').select('id').where('id', '=', id).executeTakeFirst()
  if (!wallet)
    throw new Problem(
      'error:EntityServiceError:WalletNotFound',
      `There is no wallet ${id}. Create one first with POST /wallets and name it in walletId.`,
    )
}
