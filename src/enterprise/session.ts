/**
 * Sessions: what DID requests and authentication challenges have in common.
 *
 * A session has a public link that accepts one answer, until it ends. One SQL statement checks that the link is open and closes it, so
 * that of many answers at once only one is evaluated. `begins` and `ends` are times of a clock that does not follow changes of the system
 * clock; `expire_at` is for readers.
 */
import { sql, type Selectable } from 'kysely'
import { steadyNow } from '../base/clock.ts'
import type { Config } from '../base/config.ts'
import { newId } from '../base/id.ts'
import { Problem, type ProblemType } from '../base/problem.ts'
import { appendEvent } from '../events/event.ts'
import type { Db, Tx } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/list-query.ts'
import { noteChange } from '../storage/tx-context.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { WalletTokens } from '../wallet/wallet-tokens.ts'
import { newShortLink, toShortUrl } from '../wallet/short-links.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { assertIdLength, toResult, type CreateSession, type OperationResult } from './model.ts'

/** The row of a session. */
export type Session = Omit<Selectable<WalletTables['enterprise_session']>, 'sequence'>

/** Transitions: state before, trigger, state after. An unanswered session stays `pending` after its link has expired. */
export const sessionStates = [
  [null, 'created', 'pending'],
  ['pending', 'valid', 'success'],
  ['pending', 'invalid', 'error'],
] as const

/** The differences between DID requests and challenges. */
export type Product<State extends { id: string } = { id: string }> = {
  name: Session['product']
  /** For texts. */
  noun: string
  /** The member that holds the link. */
  linkMember: string
  /** Names of the path parameters. The length of an id is checked only if it has a name. */
  linkParameter: string
  idParameter?: string
  lifetimeSeconds(config: Config): number
  newNonce?(wallet: Wallet, from: string | undefined): string
  /** A row as the API returns it; `base` is the public base URL. */
  toState(row: Session, base: string): State
  eventType: 'DidRequestUpdated' | 'AuthenticationChallengeUpdated'
  notFound: ProblemType
  expired: { type: ProblemType; title?: string }
}

/** Creates a session, whose link is open for the lifetime of its product. */
export async function createSession(
  wallet: Wallet,
  product: Product,
  { from }: CreateSession,
): Promise<Session> {
  const { config, tokens } = wallet.env
  const lifetimeMs = product.lifetimeSeconds(config) * 1_000
  const now = new Date()
  const steady = steadyNow()
  const row: Session = {
    id: newId(),
    product: product.name,
    submission_id: tokens.create(product.name, wallet.id),
    short_id: newShortLink(wallet).shortId,
    from_label: from ?? null,
    nonce: product.newNonce?.(wallet, from) ?? null,
    state: 'pending',
    did: null,
    expire_at: new Date(now.getTime() + lifetimeMs).toISOString(),
    begins: new Date(steady).toISOString(),
    ends: new Date(steady + lifetimeMs).toISOString(),
    submitted_at: null,
    token_until: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  }
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from enterprise_session)`
  return wallet.transaction(async (tx) => {
    await tx
      .insertInto('enterprise_session')
      .values({ sequence, ...row })
      .execute()
    await putSessionEvent(tx, wallet, product, row)
    return row
  })
}

/** The short link and the result of a session, as the API returns them; `base` is the public base URL. */
export function resultOf({ short_id, did, state, created_at, updated_at }: Session, base: string) {
  const shortUrl = short_id === null ? {} : { shortUrl: toShortUrl(base, short_id) }
  return { ...shortUrl, did, state, createdAt: created_at, updatedAt: updated_at }
}

const sessionsOf = (db: Db, { name }: Product) =>
  db.selectFrom('enterprise_session').selectAll().where('product', '=', name)

/** @throws {Problem} 404 */
export async function getSession(db: Db, product: Product, id: string): Promise<Session> {
  if (product.idParameter !== undefined) assertIdLength(product.idParameter, id)
  const row = await sessionsOf(db, product).where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound(product, id)
  return row
}

/** A page of sessions, oldest first. */
export function listSessions(
  db: Db,
  product: Product,
  paging: Paging,
): Promise<{ rows: Session[]; total: number }> {
  return pageOf(sessionsOf(db, product), ['sequence'], paging)
}

/** Deletes a session and closes its link. @throws {Problem} 404 */
export async function deleteSession(wallet: Wallet, product: Product, id: string): Promise<OperationResult> {
  const { numDeletedRows } = await wallet.transaction((tx) => {
    noteChange(tx, `session ${id}`)
    return tx
      .deleteFrom('enterprise_session')
      .where('product', '=', product.name)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  })
  if (numDeletedRows === 0n) throw notFound(product, id)
  return toResult(
    `${product.noun} deleted`,
    `${product.noun} ${id} is deleted. Its link accepts no answer any more.`,
  )
}

/** The id of the wallet that issued a link. @throws {Problem} 404; 400 for an id that is too long. */
export async function getWalletIdOfLink(
  tokens: WalletTokens,
  product: Product,
  submissionId: string,
): Promise<string> {
  assertIdLength(product.linkParameter, submissionId)
  const walletId = await tokens.findWalletId(product.name, submissionId)
  if (walletId === undefined) throw linkUnknown(product)
  return walletId
}

/** 404: the agent did not issue the link, or its wallet was deleted. */
export function linkUnknown(product: Product): Problem {
  return new Problem(
    product.notFound,
    `This agent did not issue the link. Use the ${product.linkMember} as it was given.`,
  )
}

/** The session of a link; undefined when it was deleted. */
export function findSessionOfLink(
  db: Db,
  product: Product,
  submissionId: string,
): Promise<Session | undefined> {
  return sessionsOf(db, product).where('submission_id', '=', submissionId).executeTakeFirst()
}

/** The session of a short link, of either product. */
export function findSessionOfShortLink(db: Db, shortId: string): Promise<Session | undefined> {
  return db.selectFrom('enterprise_session').selectAll().where('short_id', '=', shortId).executeTakeFirst()
}

/** Checks that the link of a session accepts an answer. @throws {Problem} 410, also without a session */
export function requireOpen(product: Product, row: Session | undefined): Session {
  const now = new Date(steadyNow()).toISOString()
  const isOpen = row?.state === 'pending' && row.submitted_at === null && row.begins <= now && now < row.ends
  if (!isOpen) throw linkClosed(product)
  return row
}

/** Closes the link for the one answer that it accepts. False when it is used already, or has ended. */
export async function claim(tx: Tx, { id, submitted_at }: Session): Promise<boolean> {
  if (submitted_at !== null) return false
  const now = new Date(steadyNow()).toISOString()
  const { numUpdatedRows } = await tx
    .updateTable('enterprise_session')
    .set({ submitted_at: now })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .where('submitted_at', 'is', null)
    // A clock that was set back before the process started must not keep a link open for longer.
    .where('begins', '<=', now)
    .where('ends', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0
}

/** Stores the result of the claimed answer: a DID when it is valid. False when the session was deleted in the meantime. */
export async function finish(
  tx: Tx,
  wallet: Wallet,
  product: Product,
  { id }: Session,
  { did, tokenUntil }: { did?: string | undefined; tokenUntil?: string },
): Promise<boolean> {
  const row = await tx
    .updateTable('enterprise_session')
    .set({
      state: did === undefined ? 'error' : 'success',
      did: did ?? null,
      token_until: tokenUntil ?? null,
      updated_at: new Date().toISOString(),
    })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .returningAll()
    .executeTakeFirst()
  if (!row) return false
  noteChange(tx, `session ${id}`)
  await putSessionEvent(tx, wallet, product, row)
  return true
}

/** The Cloud Agent has no events of sessions, so they are written only with `ENTERPRISE_EVENTS`. */
async function putSessionEvent(tx: Tx, { env }: Wallet, product: Product, row: Session): Promise<void> {
  const data = product.toState(row, env.urls.rest)
  if (env.config.ENTERPRISE_EVENTS) await appendEvent(tx, { type: product.eventType, subject: data.id, data })
}

/** For how many milliseconds a session may still get its result; 0 when it has one, or has ended. */
export function remainingMs({ state, submitted_at, ends }: Session): number {
  if (state !== 'pending') return 0
  // An answer that is being evaluated has no deadline. Evaluations are short.
  return submitted_at === null ? Math.max(0, Date.parse(ends) - steadyNow()) : 10_000
}

function notFound({ notFound: type, noun }: Product, id: string): Problem {
  return new Problem(type, `There is no ${noun} ${id.slice(0, 100)}.`)
}

export function linkClosed({ expired: { type, title }, noun }: Product): Problem {
  const detail = `The ${noun} has been answered already, or it has ended. Ask for another.`
  return new Problem(type, detail, { ...(title !== undefined && { title }) })
}
