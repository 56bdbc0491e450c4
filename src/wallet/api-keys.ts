/** The keys that let tenants in: named, with an end, for everything or for some of it; kept as keyed digests (service §2.4, api.md 3.3). */
import type { Selectable } from 'kysely'
import { z } from 'zod'
import { newApiKey } from '../base/api-key.ts'
import { isOver } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { deriveSealKey, keyedDigest } from '../base/seal.ts'
import type { AgentTables } from '../storage/agent-tables.ts'
import type { AgentDb, AgentTx } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { Scope, type ApiKey, type CreateApiKey, type NewApiKey, type ApiKeyAuthentication } from './model.ts'
import { getEntity } from './tenants.ts'
import { createKnownKeys, LastUses, type KnownKey } from './api-key-cache.ts'

type Row = Selectable<AgentTables['api_key']>

/** Whom a key lets in, and for what; `scopes` is absent for everything. */
export type Admitted = { keyId: string; entityId: string; walletId: string; scopes?: readonly Scope[] }

const KeptScopes = z.array(Scope)

export class ApiKeys {
  readonly #db: AgentDb
  readonly #digestKey: Uint8Array
  readonly #uses: LastUses
  readonly #known = createKnownKeys()

  constructor(db: AgentDb, agentKey: Uint8Array) {
    this.#db = db
    this.#digestKey = deriveSealKey(agentKey, 'api-keys')
    this.#uses = new LastUses(db)
  }

  /**
   * Makes a key for an entity, which is returned this once. With `replaces`, the key that it stands in for ends at the time given, if not
   * before.
   *
   * @throws {Problem} `EntityNotFound`; `NotFound` for a key to replace that lets nobody in; `BadRequest` for a time that is over.
   */
  async create(entityId: string, { name, scopes, expiresAt, replaces }: CreateApiKey): Promise<NewApiKey> {
    mustBeAhead('expiresAt', expiresAt)
    mustBeAhead('replaces.until', replaces?.until)
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

  /** A page of an entity's keys in the order of their making, those that let nobody in any more among them. @throws {Problem} `EntityNotFound` */
  async list(entityId: string, paging: Paging): Promise<{ keys: ApiKey[]; total: number }> {
    await getEntity(this.#db, entityId)
    await this.#uses.write()
    const keys = this.#db.selectFrom('api_key').selectAll().where('entity_id', '=', entityId)
    const { rows, total } = await pageOf(keys, ['created_at', 'id'], paging)
    return { keys: rows.map(toApiKey), total }
  }

  /** Lets nobody in with a key any more, for good; doing it again changes nothing. @throws {Problem} `EntityNotFound`, `NotFound` */
  async revoke(entityId: string, id: string): Promise<ApiKey> {
    await this.#uses.write()
    return this.change(async (tx) => {
      await getEntity(tx, entityId)
      const row = await getKey(tx, entityId, id)
      const revoked = { ...row, revoked_at: row.revoked_at ?? new Date().toISOString() }
      await tx.updateTable('api_key').set({ revoked_at: revoked.revoked_at }).where('id', '=', id).execute()
      return toApiKey(revoked)
    })
  }

  /**
   * Lets an entity in with a key that was made elsewhere; doing it again changes nothing.
   *
   * @throws {Problem} `EntityNotFound`; `AuthenticationCompromised` for a key that is or was somebody's.
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

  /** Takes a key from an entity, by the key itself. @throws {Problem} `EntityNotFound`, `NotFound` */
  async remove({ entityId, apiKey }: ApiKeyAuthentication): Promise<void> {
    await this.change(async (tx) => {
      await getEntity(tx, entityId)
      const { numUpdatedRows } = await tx
        .updateTable('api_key')
        .set({ revoked_at: new Date().toISOString() })
        .where('digest', '=', this.#digest(apiKey))
        .where('entity_id', '=', entityId)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new Problem('NotFound', `The entity ${entityId} has no such apiKey.`)
    })
  }

  /** The digest by which this process knows a key. */
  fingerprint(apiKey: string): string {
    return this.#known.fingerprint(apiKey)
  }

  /** The owner of a key that `find` has found before, and that has not been revoked or expired since. */
  peek(fingerprint: string): Admitted | undefined {
    return this.#known.peek(fingerprint)?.admitted
  }

  /** Whom a key lets in; one that is unknown, revoked or expired lets nobody in. */
  async find(apiKey: string, fingerprint = this.fingerprint(apiKey)): Promise<Admitted | undefined> {
    const known = await this.#known.find(fingerprint, () => this.#look(apiKey))
    if (!known) return undefined
    known.lastUsedAt = this.#uses.note(known.admitted.keyId, known.lastUsedAt)
    return known.admitted
  }

  /** Changes whom keys let in, or their entities; whatever comes of it, nobody is let in by what was known before. */
  async change<T>(write: (tx: AgentTx) => Promise<T>): Promise<T> {
    try {
      return await this.#db.transaction().execute(write)
    } finally {
      this.#known.forget()
    }
  }

  async #look(apiKey: string): Promise<KnownKey | undefined> {
    const row = await this.#db
      .selectFrom('api_key')
      .innerJoin('entity', 'entity.id', 'api_key.entity_id')
      .selectAll('api_key')
      .select('entity.wallet_id')
      .where('api_key.digest', '=', this.#digest(apiKey))
      .executeTakeFirst()
    if (!row || stateOf(row) !== 'active') return undefined
    const scopes = readScopes(row)
    return {
      admitted: {
        keyId: row.id,
        entityId: row.entity_id,
        walletId: row.wallet_id,
        ...(scopes && { scopes }),
      },
      endsAt: row.expires_at === null ? undefined : Date.parse(row.expires_at),
      lastUsedAt: row.last_used_at,
    }
  }

  /** Tells whether a key is known, also one that lets nobody in any more. */
  async isKnown(apiKey: string): Promise<boolean> {
    return Boolean(
      await this.#db
        .selectFrom('api_key')
        .select('id')
        .where('digest', '=', this.#digest(apiKey))
        .executeTakeFirst(),
    )
  }

  /** Writes what is not written yet. */
  close(): Promise<void> {
    return this.#uses.close()
  }

  #newRow(entityId: string, apiKey: string): Row {
    const rest = { name: null, scopes: null, last_used_at: null, expires_at: null, revoked_at: null }
    return {
      digest: this.#digest(apiKey),
      id: newId(),
      entity_id: entityId,
      created_at: new Date().toISOString(),
      ...rest,
    }
  }

  /** A lookup by keyed digest, so that the time it takes tells nothing of a key. */
  #digest(apiKey: string): string {
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

function mustBeAhead(field: string, time: string | undefined): void {
  if (time !== undefined && isOver(Date.parse(time)))
    throw new Problem('BadRequest', `${field}: ${time} is over. It must be a time that is to come.`)
}

function readScopes({ scopes }: Row): Scope[] | undefined {
  return scopes === null ? undefined : KeptScopes.parse(JSON.parse(scopes))
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
