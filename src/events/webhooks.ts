/**
 * Webhooks (service §2.8, §6.1): who is told of a wallet's events.
 *
 * A webhook is a place in the wallet's log of events. Each moves on by itself, so a dead receiver waits alone,
 * and nothing is copied for each of them. The global webhook of the configuration has a row in every wallet.
 */
import type { Selectable } from 'kysely'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { lastSequence } from './event.ts'
import { noteChange } from '../storage/tx-context.ts'
import { newSecret, rotate, Secrets } from './signature.ts'
import { CustomHeaders, type CreateWebhook, type NewWebhook, type Webhook } from './webhook.ts'

/** The id of the row that stands for the global webhook, whose address is in the configuration. */
export const globalWebhookId = 'global'

/** What is shown of a header's value once it is kept. */
const mask = '***'

/** What seals a text for this wallet and opens it again. */
export type Sealer = {
  seal(context: string, text: string): string
  unsealCached<T extends object>(context: string, sealed: string, read: (text: string) => T): T
}

/** Registers a webhook, which is told of every event from now on. @throws {Problem} `TooManyWebhookError` at `limit`. */
export async function createWebhook(
  tx: Tx,
  sealer: Sealer,
  { url, customHeaders, signed }: CreateWebhook,
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
    createdAt,
  })
  return { id, url, customHeaders, createdAt, ...(secret !== undefined && { signed: true, secret }) }
}

/** All webhooks of the wallet in the order of their making. */
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

/** A webhook's row. @throws {Problem} `NotFound`, also for the global webhook, which is the operator's. */
export async function findWebhook(db: Db, id: string): Promise<WebhookRow> {
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

/** A webhook's row as REST shows it. */
export function toWebhook(
  sealer: Sealer,
  { id, url, headers, secrets, created_at: createdAt }: WebhookRow,
): Webhook {
  const customHeaders = Object.fromEntries(
    Object.keys(openHeaders(sealer, id, headers)).map((name) => [name, mask]),
  )
  return { id, url, customHeaders, createdAt, ...(secrets !== null && { signed: true }) }
}

/**
 * Gives a webhook a new secret, and returns it; the one it had signs beside it until `until`.
 *
 * @throws {Problem} `NotFound`
 */
export async function renewSecret(
  tx: Tx,
  sealer: Sealer,
  id: string,
  until: Date,
): Promise<{ secret: string; previousUntil?: string }> {
  const known = openSecrets(sealer, id, (await findWebhook(tx, id)).secrets)
  const secret = newSecret()
  const secrets = rotate(known, secret, until)
  await tx
    .updateTable('webhook')
    .set({ secrets: sealSecrets(sealer, id, secrets) })
    .where('id', '=', id)
    .execute()
  noteChange(tx, 'events')
  const previousUntil = secrets[1]?.until
  return { secret, ...(previousUntil !== undefined && { previousUntil }) }
}

/** Has a webhook's events signed no longer. @throws {Problem} `NotFound` */
export async function dropSecrets(tx: Tx, id: string): Promise<void> {
  await findWebhook(tx, id)
  await tx.updateTable('webhook').set({ secrets: null }).where('id', '=', id).execute()
  noteChange(tx, 'events')
}

/** Forgets a webhook, what it was not told yet, and what is known of its deliveries. @throws {Problem} `NotFound` */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook')
    .where('id', '=', id)
    .where('id', '!=', globalWebhookId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new Problem('NotFound', `There is no webhook ${id}.`)
  noteChange(tx, 'events')
}

const globalWebhook = prepared((db: Db) =>
  db.selectFrom('webhook').select('id').where('id', '=', globalWebhookId),
)

/** Makes the global webhook a listener of this wallet's events from now on, or no longer. */
export async function setGlobalWebhook(tx: Tx, isWanted: boolean): Promise<void> {
  const isKnown = (await globalWebhook(tx, {})).rows.length > 0
  if (isKnown && !isWanted) await tx.deleteFrom('webhook').where('id', '=', globalWebhookId).execute()
  if (!isKnown && isWanted)
    await insert(tx, {
      id: globalWebhookId,
      url: '',
      headers: '',
      secrets: null,
      createdAt: new Date().toISOString(),
    })
}

/** The headers of a webhook's row. */
export function openHeaders(sealer: Sealer, id: string, sealed: string): Record<string, string> {
  return sealer.unsealCached(headersContext(id), sealed, (text) => CustomHeaders.parse(JSON.parse(text)))
}

/** The secrets of a webhook's row, if it has any. */
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

type NewRow = { id: string; url: string; headers: string; secrets: string | null; createdAt: string }

async function insert(tx: Tx, { createdAt, ...row }: NewRow): Promise<void> {
  const cursor = await lastSequence(tx)
  // At once, wherever the clock is set to in the meantime.
  const due_at = new Date(0).toISOString()
  await tx
    .insertInto('webhook')
    .values({ ...row, created_at: createdAt, cursor, attempts: 0, due_at })
    .execute()
  noteChange(tx, 'events')
}
