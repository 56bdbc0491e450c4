/** API keys of tenants: with a name, an expiry and scopes. Only keyed digests of the keys are stored. */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { newApiKey } from '../foundation/api-key.ts'
import { isOver } from '../foundation/clock.ts'
import { newId } from '../foundation/id.ts'
import { Problem } from '../foundation/problem.ts'
import { deriveSealKey, keyedDigest } from '../foundation/seal.ts'
import type { Broadcast } from '../cluster/broadcast.ts'
import type { AgentTables } from '../foundation/storage/agent-tables.ts'
import type { AgentDb, AgentTx } from '../foundation/storage/database.ts'
import { pageOf, type Paging } from '../foundation/storage/list-query.ts'
import { Scope, type ApiKey, type CreateApiKey, type NewApiKey, type ApiKeyAuthentication } from './model.ts'
import { getEntity } from './entities.ts'
import { createApiKeyCache, LastUses, type ActiveKey } from './api-key-cache.ts'

type Row = Selectable<AgentTables['api_key']>

/** The tenant that a key authenticates, and its scopes; absent `scopes` allow everything. */
export type ApiKeyGrant = { keyId: string; entityId: string; walletId: string; scopes?: readonly Scope[] }

const StoredScopes = z.array(Scope)

export class ApiKeys {
  readonly #db: AgentDb
  readonly #digestKey: Uint8Array
  readonly #uses: LastUses
  readonly #cache = createApiKeyCache()
  readonly #broadcast: Broadcast

  constructor(db: AgentDb, agentKey: Uint8Array, broadcast: Broadcast) {
    this.#db = db
    this.#broadcast = broadcast
    broadcast.subscribe('api-keys', () => this.#cache.clear())
    this.#digestKey = deriveSealKey(agentKey, 'api-keys')
    this.#uses = new LastUses(db)
  }

  /**
   * Creates a key for an entity. The key itself is returned only here. With `replaces`, the replaced key
   * expires at the given time, or earlier if it already would.
   *
   * @throws {Problem} `EntityNotFound`; `NotFound` when the key to replace is not active; `BadRequest` for a
   * time in the past.
   */
  async create(entityId: string, { name, scopes, expiresAt, replaces }: CreateApiKey): Promise<NewApiKey> {
    assertFuture('expiresAt', expiresAt)
    assertFuture('replaces.until', replaces?.until)
    const apiKey = newApiKey()
    return this.change(async (tx) => {
      await getEntity(tx, entityId)
      const old = replaces && (await getKey(tx, entityId, replaces.id))
      if (old && stateOf(old) !== 'active')
        throw new Problem('NotFound', `replaces: the key ${old.id} is ${stateOf(old)} already.`)
      if (old && replaces && (old.expires_at === null || replaces.until < old.expires_at))
        await tx.updateTable('api_key').set({ expires_at: replaces.until }).where('id', '=', old.id).execute()
      const row = {
        ...this.#newRow(entityId, apiKey),
        name: name ?? old?.name ?? null,
        scopes: scopes ? JSON.stringify(scopes) : (old?.scopes ?? null),
        expires_at: expiresAt ?? null,
      }
      await tx.insertInto('api_key').values(row).execute()
      return { ...toApiKey(row), apiKey }
    })
  }

  /**
   * A page of an entity's keys, oldest first, with expired and revoked ones.
   *
   * @throws {Problem} `EntityNotFound`
   */
  async list(entityId: string, paging: Paging): Promise<{ keys: ApiKey[]; total: number }> {
    await getEntity(this.#db, entityId)
    await this.#uses.flush()
    const keys = this.#db.selectFrom('api_key').selectAll().where('entity_id', '=', entityId)
    const { rows, total } = await pageOf(keys, ['created_at', 'id'], paging)
    return { keys: rows.map(toApiKey), total }
  }

  /** Revokes a key for good. Idempotent. @throws {Problem} `EntityNotFound`, `NotFound` */
  async revoke(entityId: string, id: string): Promise<ApiKey> {
    await this.#uses.flush()
    return this.change(async (tx) => {
      await getEntity(tx, entityId)
      const row = await getKey(tx, entityId, id)
      const revoked = { ...row, revoked_at: row.revoked_at ?? new Date().toISOString() }
      await tx.updateTable('api_key').set({ revoked_at: revoked.revoked_at }).where('id', '=', id).execute()
      return toApiKey(revoked)
    })
  }

  /**
   * Registers a key that was made elsewhere. Idempotent.
   *
   * @throws {Problem} `EntityNotFound`; `AuthenticationCompromised` for a key that belongs to another entity,
   * is revoked or expired.
   */
  async register({ entityId, apiKey }: ApiKeyAuthentication, name?: string): Promise<void> {
    const row = { ...this.#newRow(entityId, apiKey), name: name ?? null }
    await this.#db.transaction().execute(async (tx) => {
      await getEntity(tx, entityId)
      const known = await tx
        .selectFrom('api_key')
        .selectAll()
        .where('digest', '=', row.digest)
        .executeTakeFirst()
      if (known?.entity_id === entityId && stateOf(known) === 'active') return
      if (known) {
        const reasons = {
          active: 'belongs to another entity',
          revoked: 'was removed before',
          expired: 'has expired',
        }
        throw new Problem(
          'error:AuthenticationRepositoryError:AuthenticationCompromised',
          `The apiKey ${reasons[stateOf(known)]} and cannot be registered. Choose another.`,
        )
      }
      await tx.insertInto('api_key').values(row).execute()
    })
  }

  /** Revokes a key, given the key itself. @throws {Problem} `EntityNotFound`, `NotFound` */
  async remove({ entityId, apiKey }: ApiKeyAuthentication): Promise<void> {
    await this.change(async (tx) => {
      await getEntity(tx, entityId)
      const { numUpdatedRows } = await tx
        .updateTable('api_key')
        .set({ revoked_at: new Date().toISOString() })
        .where('digest', '=', this.fingerprint(apiKey))
        .where('entity_id', '=', entityId)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new Problem('NotFound', `The entity ${entityId} has no such apiKey.`)
    })
  }

  /** The grant of an active key that was used lately, by the fingerprint of the key. */
  peek(fingerprint: string): ApiKeyGrant | undefined {
    return this.#cache.peek(fingerprint)?.grant
  }

  /** The grant of a key; undefined for one that is unknown, revoked or expired. */
  async find(apiKey: string, fingerprint = this.fingerprint(apiKey)): Promise<ApiKeyGrant | undefined> {
    const active = await this.#cache.find(fingerprint, () => this.#loadActive(fingerprint))
    if (!active) return undefined
    active.lastUsedAt = this.#uses.note(active.grant.keyId, active.lastUsedAt)
    return active.grant
  }

  /**
   * Runs a transaction that changes keys or entities, and clears the caches of all processes whatever its
   * result.
   */
  async change<T>(write: (tx: AgentTx) => Promise<T>): Promise<T> {
    try {
      return await this.#db.transaction().execute(write)
    } finally {
      this.#cache.clear()
      await this.#broadcast.publish('api-keys')
    }
  }

  async #loadActive(digest: string): Promise<ActiveKey | undefined> {
    const row = await this.#db
      .selectFrom('api_key')
      .innerJoin('entity', 'entity.id', 'api_key.entity_id')
      .selectAll('api_key')
      .select('entity.wallet_id')
      .where('api_key.digest', '=', digest)
      .executeTakeFirst()
    if (!row || stateOf(row) !== 'active') return undefined
    const scopes = readScopes(row)
    return {
      grant: { keyId: row.id, entityId: row.entity_id, walletId: row.wallet_id, ...(scopes && { scopes }) },
      endsAt: row.expires_at === null ? undefined : Date.parse(row.expires_at),
      lastUsedAt: row.last_used_at,
    }
  }

  /** Whether a key is stored, also an expired or revoked one. */
  async isKnown(apiKey: string): Promise<boolean> {
    const keys = this.#db.selectFrom('api_key').select('id').where('digest', '=', this.fingerprint(apiKey))
    return (await keys.executeTakeFirst()) !== undefined
  }

  /** Writes the pending times of last uses. */
  close(): Promise<void> {
    return this.#uses.flush()
  }

  #newRow(entityId: string, apiKey: string): Row {
    return {
      digest: this.fingerprint(apiKey),
      id: newId(),
      entity_id: entityId,
      created_at: new Date().toISOString(),
      name: null,
      scopes: null,
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    }
  }

  /**
   * The keyed digest of a key. Keys are looked up by it, so that the time of a lookup reveals nothing about a
   * key.
   */
  fingerprint(apiKey: string): string {
    return keyedDigest(this.#digestKey, apiKey)
  }
}

async function getKey(db: AgentDb, entityId: string, id: string): Promise<Row> {
  const row = await db
    .selectFrom('api_key')
    .selectAll()
    .where('id', '=', id)
    .where('entity_id', '=', entityId)
    .executeTakeFirst()
  if (!row) throw new Problem('NotFound', `The entity ${entityId} has no key ${id}.`)
  return row
}

function stateOf({ revoked_at, expires_at }: Row): ApiKey['state'] {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && isOver(Date.parse(expires_at)) ? 'expired' : 'active'
}

function assertFuture(field: string, time: string | undefined): void {
  if (time !== undefined && isOver(Date.parse(time)))
    throw new Problem('BadRequest', `${field}: ${time} is in the past. Use a time in the future.`)
}

function readScopes({ scopes }: Row): Scope[] | undefined {
  return scopes === null ? undefined : StoredScopes.parse(JSON.parse(scopes))
}

function toApiKey(row: Row): ApiKey {
  const scopes = readScopes(row)
  return {
    kind: 'ApiKey',
    id: row.id,
    entityId: row.entity_id,
    ...(row.name !== null && { name: row.name }),
    ...(scopes && { scopes }),
    state: stateOf(row),
    createdAt: row.created_at,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
  }
}
