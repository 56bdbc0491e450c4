/** Tenants: entities bound to wallets, and the keys that let them in (service §2.3–2.4, api.md 3.3, 4.3). */
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { deriveSealKey, keyedDigest } from '../base/seal.ts'
import type { AgentDb } from '../storage/database.ts'
import type { Selectable } from 'kysely'
import type { AgentTables } from '../storage/agent-tables.ts'
import type { ApiKeyAuthentication, CreateEntity, Entity } from './model.ts'

/** The entity and the wallet that exist without being made by an administrator (api.md 3.5). */
export const defaultId = '00000000-0000-0000-0000-000000000000'

export class Tenants {
  readonly #db: AgentDb
  readonly #digestKey: Uint8Array

  constructor(db: AgentDb, masterKey: Uint8Array) {
    this.#db = db
    this.#digestKey = deriveSealKey(masterKey, 'api-keys')
  }

  /** Makes an entity. @throws {Problem} `EntityAlreadyExists`, `WalletNotFound` */
  async create({ id = newId(), name, walletId = defaultId }: CreateEntity): Promise<Entity> {
    return this.#db.transaction().execute(async (tx) => {
      if (await find(tx, id))
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
    return toEntity(await get(this.#db, id))
  }

  /** A page of entities in the order of their making, and how many there are. */
  async list({ offset, limit }: { offset: number; limit: number }): Promise<{ entities: Entity[]; total: number }> {
    const { total } = await this.#db
      .selectFrom('entity')
      .select((eb) => eb.fn.countAll().as('total'))
      .executeTakeFirstOrThrow()
    const rows = await this.#db.selectFrom('entity').selectAll().orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute()
    return { entities: rows.map(toEntity), total: Number(total) }
  }

  /** Gives an entity another name or another wallet. @throws {Problem} `EntityNotFound`, `WalletNotFound` */
  async update(id: string, change: { name: string } | { walletId: string }): Promise<Entity> {
    await this.get(id)
    if ('walletId' in change) await mustHaveWallet(this.#db, change.walletId)
    const set = 'name' in change ? { name: change.name } : { wallet_id: change.walletId }
    await this.#db
      .updateTable('entity')
      .set({ ...set, updated_at: new Date().toISOString() })
      .where('id', '=', id)
      .execute()
    return this.get(id)
  }

  /** Removes an entity and lets nobody in with its keys any more; the wallet stays. @throws {Problem} `EntityNotFound` */
  async delete(id: string): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
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

  /**
   * Lets an entity in with a key; doing it again changes nothing.
   *
   * @throws {Problem} `EntityNotFound`; `AuthenticationCompromised` for a key that is or was somebody's.
   */
  async addApiKey({ entityId, apiKey }: ApiKeyAuthentication): Promise<void> {
    const digest = this.#digest(apiKey)
    await this.#db.transaction().execute(async (tx) => {
      await get(tx, entityId)
      const known = await tx.selectFrom('api_key').selectAll().where('digest', '=', digest).executeTakeFirst()
      if (known?.entity_id === entityId && known.revoked_at === null) return
      if (known) {
        const detail = known.revoked_at === null ? 'belongs to another entity' : 'was removed before'
        throw new Problem(
          'error:AuthenticationRepositoryError:AuthenticationCompromised',
          `The apiKey ${detail} and cannot be registered. Choose another.`,
        )
      }
      await tx
        .insertInto('api_key')
        .values({ digest, entity_id: entityId, created_at: new Date().toISOString(), revoked_at: null })
        .execute()
    })
  }

  /** Takes a key from an entity. @throws {Problem} `EntityNotFound`, `NotFound` */
  async removeApiKey({ entityId, apiKey }: ApiKeyAuthentication): Promise<void> {
    await this.get(entityId)
    const { numUpdatedRows } = await this.#db
      .updateTable('api_key')
      .set({ revoked_at: new Date().toISOString() })
      .where('digest', '=', this.#digest(apiKey))
      .where('entity_id', '=', entityId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new Problem('NotFound', `The entity ${entityId} has no such apiKey.`)
  }

  /** The entity that a key lets in; a removed or unknown key lets nobody in. */
  async findByApiKey(apiKey: string): Promise<Entity | undefined> {
    const row = await this.#db
      .selectFrom('api_key')
      .innerJoin('entity', 'entity.id', 'api_key.entity_id')
      .selectAll('entity')
      .where('api_key.digest', '=', this.#digest(apiKey))
      .where('api_key.revoked_at', 'is', null)
      .executeTakeFirst()
    return row && toEntity(row)
  }

  /** Tells whether a key was somebody's and was removed, after which it never lets anybody in again. */
  async isRemoved(apiKey: string): Promise<boolean> {
    const row = await this.#db.selectFrom('api_key').select('revoked_at').where('digest', '=', this.#digest(apiKey)).executeTakeFirst()
    return row !== undefined && row.revoked_at !== null
  }

  /** A lookup by keyed digest, so that the time it takes tells nothing of a key. */
  #digest(apiKey: string): string {
    return keyedDigest(this.#digestKey, apiKey)
  }
}

type Row = Selectable<AgentTables['entity']>

function find(db: AgentDb, id: string): Promise<Row | undefined> {
  return db.selectFrom('entity').selectAll().where('id', '=', id).executeTakeFirst()
}

async function get(db: AgentDb, id: string): Promise<Row> {
  const row = await find(db, id)
  if (!row) throw entityNotFound(id)
  return row
}

async function mustHaveWallet(db: AgentDb, id: string): Promise<void> {
  const wallet = await db.selectFrom('wallet').select('id').where('id', '=', id).executeTakeFirst()
  if (!wallet)
    throw new Problem(
      'error:EntityServiceError:WalletNotFound',
      `There is no wallet ${id}. Create one first with POST /wallets and name it in walletId.`,
    )
}

function entityNotFound(id: string): Problem {
  return new Problem('error:EntityServiceError:EntityNotFound', `There is no entity ${id}.`)
}

function toEntity(row: Row): Entity {
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
