/**
 * Webhooks: receivers of a wallet's events.
 *
 * Each webhook has its own cursor in the wallet's event log, so an unreachable receiver delays no other, and
 * events are not copied. The global webhook of the configuration has a row in every wallet.
 */
import type { Selectable } from 'kysely'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { type EventType, eventTypes, lastSequence } from './event.ts'
import { noteWebhooks } from './webhook-queues.ts'
import { newSecret, renew, type RenewedSecret, Secrets } from './signature.ts'
import { CustomHeaders, type CreateWebhook, type NewWebhook, type Webhook } from './webhook.ts'

/** The id of the global webhook's row. Its URL is in the configuration. */
export const globalWebhookId = 'global'

/** Replaces header values in responses. */
const mask = '***'

/** Encrypts and decrypts texts with the wallet's key. */
export type Sealer = {
  seal(context: string, text: string): string
  unsealCached<T extends object>(context: string, sealed: string, read: (text: string) => T): T
}

/** Registers a webhook for all future events. @throws {Problem} `TooManyWebhookError` at `limit` */
export async function createWebhook(
  tx: Tx,
  sealer: Sealer,
  { url, customHeaders, signed, batch = null, types = null, deliver }: CreateWebhook,
  limit: number,
): Promise<NewWebhook> {
  const { count } = await tx
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('id', '!=', globalWebhookId)
    .executeTakeFirstOrThrow()
  if (Number(count) >= limit) {
    throw new Problem(
      'error:WalletManagementServiceError:TooManyWebhookError',
      `The wallet has ${limit} webhooks, the most it may have. Delete one first, or raise WEBHOOKS_PER_WALLET.`,
    )
  }
  const id = newId()
  const createdAt = new Date().toISOString()
  const secret = signed ? newSecret() : undefined
  await insert(tx, {
    id,
    url,
    headers: sealer.seal(headersContext(id), JSON.stringify(customHeaders)),
    secrets: secret === undefined ? null : sealSecrets(sealer, id, [{ secret }]),
    created_at: createdAt,
    batch,
    types: toColumn(types),
    deliver: deliver ? 1 : 0,
  })
  return {
    id,
    url,
    customHeaders,
    createdAt,
    ...(secret !== undefined && { signed: true, secret }),
    ...(batch !== null && { batch }),
    ...(types !== null && { types }),
    ...(deliver && { deliver }),
  }
}

/** All webhooks of the wallet, oldest first. */
export async function listWebhooks(db: Db, sealer: Sealer): Promise<Webhook[]> {
  const rows = await db
    .selectFrom('webhook')
    .selectAll()
    .where('id', '!=', globalWebhookId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => toWebhook(sealer, row))
}

/**
 * A webhook's row.
 *
 * @throws {Problem} `NotFound`, also for the global webhook, which belongs to the operator
 */
export async function getWebhook(db: Db, id: string): Promise<WebhookRow> {
  const row = await db
    .selectFrom('webhook')
    .selectAll()
    .where('id', '=', id)
    .where('id', '!=', globalWebhookId)
    .executeTakeFirst()
  if (!row) throw new Problem('NotFound', `There is no webhook ${id}.`)
  return row
}
export type WebhookRow = Selectable<WalletTables['webhook']>

export function toWebhook(
  sealer: Sealer,
  { id, url, headers, secrets, created_at: createdAt, batch, types, deliver }: WebhookRow,
): Webhook {
  const customHeaders = Object.fromEntries(
    Object.keys(openHeaders(sealer, id, headers)).map((name) => [name, mask]),
  )
  return {
    id,
    url,
    customHeaders,
    createdAt,
    ...(secrets !== null && { signed: true }),
    ...(batch !== null && { batch }),
    ...(types !== null && { types: fromColumn(types) }),
    ...(deliver === 1 && { deliver: true }),
  }
}

/**
 * Rotates a webhook's secret, and returns the new one. The old one signs as well until `until`.
 *
 * @throws {Problem} `NotFound`
 */
export async function renewSecret(tx: Tx, sealer: Sealer, id: string, until: Date): Promise<RenewedSecret> {
  const known = openSecrets(sealer, id, (await getWebhook(tx, id)).secrets)
  const { secrets, renewed } = renew(known, until)
  await tx
    .updateTable('webhook')
    .set({ secrets: sealSecrets(sealer, id, secrets) })
    .where('id', '=', id)
    .execute()
  noteWebhooks(tx)
  return renewed
}

/** Stops signing a webhook's events. @throws {Problem} `NotFound` */
export async function dropSecrets(tx: Tx, id: string): Promise<void> {
  await getWebhook(tx, id)
  await tx.updateTable('webhook').set({ secrets: null }).where('id', '=', id).execute()
  noteWebhooks(tx)
}

/** Deletes a webhook, its queue and its delivery log. @throws {Problem} `NotFound` */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook')
    .where('id', '=', id)
    .where('id', '!=', globalWebhookId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new Problem('NotFound', `There is no webhook ${id}.`)
  noteWebhooks(tx)
}

const globalWebhook = prepared((db: Db) =>
  db.selectFrom('webhook').select('id').where('id', '=', globalWebhookId),
)

/** Registers or deletes the global webhook in this wallet. */
export async function setGlobalWebhook(tx: Tx, isWanted: boolean): Promise<void> {
  const isKnown = (await globalWebhook(tx, {})).rows.length > 0
  if (isKnown && !isWanted) await tx.deleteFrom('webhook').where('id', '=', globalWebhookId).execute()
  if (!isKnown && isWanted)
    await insert(tx, {
      id: globalWebhookId,
      url: '',
      headers: '',
      secrets: null,
      created_at: new Date().toISOString(),
      batch: null,
      types: null,
      deliver: 0,
    })
}

function toColumn(types: readonly EventType[] | null): string | null {
  return types === null ? null : `,${[...new Set(types)].join(',')},`
}

/** Skips the types that an earlier release had. */
function fromColumn(types: string): EventType[] {
  return eventTypes.filter((type) => types.includes(`,${type},`))
}

/** Decrypts the headers of a webhook's row. */
export function openHeaders(sealer: Sealer, id: string, sealed: string): Record<string, string> {
  return sealer.unsealCached(headersContext(id), sealed, (text) => CustomHeaders.parse(JSON.parse(text)))
}

/** Decrypts the secrets of a webhook's row. */
export function openSecrets(sealer: Sealer, id: string, sealed: string | null): Secrets | undefined {
  return sealed === null
    ? undefined
    : sealer.unsealCached(secretsContext(id), sealed, (text) => Secrets.parse(JSON.parse(text)))
}

function sealSecrets(sealer: Sealer, id: string, secrets: Secrets): string {
  return sealer.seal(secretsContext(id), JSON.stringify(secrets))
}

function headersContext(id: string): string {
  return `webhook:${id}`
}

function secretsContext(id: string): string {
  return `webhook-secrets:${id}`
}

type NewRow = Omit<WebhookRow, 'cursor' | 'attempts' | 'due_at' | 'retry_to'>

async function insert(tx: Tx, row: NewRow): Promise<void> {
  const cursor = await lastSequence(tx)
  // Due at once, even if the clock is set back.
  const due_at = new Date(0).toISOString()
  await tx
    .insertInto('webhook')
    .values({ ...row, cursor, attempts: 0, due_at, retry_to: null })
    .execute()
  noteWebhooks(tx)
}
