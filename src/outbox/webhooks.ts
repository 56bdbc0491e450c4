/**
 * Webhooks (service §2.8, §6.1): who is told of a wallet's events.
 *
 * A webhook is a place in the wallet's log of events. Each moves on by itself, so a dead receiver waits alone,
 * and nothing is copied for each of them. The global webhook of the configuration has a row in every wallet.
 */
import { z } from 'zod'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import type { Db, Tx } from '../storage/database.ts'
import { lastSequence } from './event.ts'

/** The id of the row that stands for the global webhook, whose address is in the configuration. */
export const globalWebhookId = 'global'

/** Headers that would change what the request is, instead of what it carries. */
const reserved = new Set([
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
])

export const CustomHeaders = z
  .record(
    z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'is not the name of a header')
      .refine((name) => !reserved.has(name.toLowerCase()), 'is a header that the agent writes itself'),
    z
      .string()
      .max(4_000)
      .regex(/^[\t\x20-\x7e]*$/, 'is not the value of a header: visible ASCII only'),
  )
  .meta({ description: 'Header names and values that every request to the webhook carries.' })

export const CreateWebhook = z
  .object({
    url: z
      .url({ protocol: /^https?$/, message: 'is not an absolute http or https URL' })
      .max(2_000)
      .refine(hasNoUser, 'has a user name or password; send them in customHeaders, which are kept sealed'),
    customHeaders: CustomHeaders.nullish().transform((headers) => headers ?? {}),
  })
  .meta({ id: 'CreateWebhookNotification' })
export type CreateWebhook = z.output<typeof CreateWebhook>

export const Webhook = z
  .object({ id: z.uuid(), url: z.string(), customHeaders: z.record(z.string(), z.string()), createdAt: z.iso.datetime() })
  .meta({ id: 'WebhookNotification' })
export type Webhook = z.infer<typeof Webhook>

/** Requests go to no such URL, and here it would lie open on disk. */
function hasNoUser(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { username, password } = new URL(url)
  return username === '' && password === ''
}

/** What seals a text for this wallet and opens it again. */
export type Sealer = { seal(context: string, text: string): string; unseal(context: string, sealed: string): string }

/** Registers a webhook, which is told of every event from now on. @throws {Problem} `TooManyWebhookError` at `limit`. */
export async function createWebhook(tx: Tx, sealer: Sealer, { url, customHeaders }: CreateWebhook, limit: number): Promise<Webhook> {
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
  const webhook = { id: newId(), url, customHeaders, createdAt: new Date().toISOString() }
  const headers = sealer.seal(`webhook:${webhook.id}`, JSON.stringify(customHeaders))
  await insert(tx, { id: webhook.id, url, headers, createdAt: webhook.createdAt })
  return webhook
}

/** All webhooks of the wallet in the order of their making. */
export async function listWebhooks(db: Db, sealer: Sealer): Promise<Webhook[]> {
  const rows = await db.selectFrom('webhook').selectAll().where('id', '!=', globalWebhookId).orderBy('created_at').orderBy('id').execute()
  return rows.map(({ id, url, headers, created_at: createdAt }) => ({
    id,
    url,
    customHeaders: openHeaders(sealer, id, headers),
    createdAt,
  }))
}

/** Forgets a webhook and what it was not told yet. @throws {Problem} `NotFound` */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('webhook').where('id', '=', id).where('id', '!=', globalWebhookId).executeTakeFirst()
  if (numDeletedRows === 0n) throw new Problem('NotFound', `There is no webhook ${id}.`)
  await tx.deleteFrom('dead_letter').where('webhook_id', '=', id).execute()
}

/** Makes the global webhook a listener of this wallet's events from now on, or no longer. */
export async function setGlobalWebhook(tx: Tx, isWanted: boolean): Promise<void> {
  if (!isWanted) {
    await tx.deleteFrom('webhook').where('id', '=', globalWebhookId).execute()
    return
  }
  const known = await tx.selectFrom('webhook').select('id').where('id', '=', globalWebhookId).executeTakeFirst()
  if (!known) await insert(tx, { id: globalWebhookId, url: '', headers: '', createdAt: new Date().toISOString() })
}

/** The headers of a webhook's row. */
export function openHeaders(sealer: Sealer, id: string, sealed: string): Record<string, string> {
  return CustomHeaders.parse(JSON.parse(sealer.unseal(`webhook:${id}`, sealed)))
}

async function insert(
  tx: Tx,
  { id, url, headers, createdAt }: { id: string; url: string; headers: string; createdAt: string },
): Promise<void> {
  const cursor = await lastSequence(tx)
  // At once, wherever the clock is set to in the meantime.
  const due_at = new Date(0).toISOString()
  await tx.insertInto('webhook').values({ id, url, headers, created_at: createdAt, cursor, attempts: 0, due_at }).execute()
}
