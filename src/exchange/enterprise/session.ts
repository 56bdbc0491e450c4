/**
 * Sessions: what DID requests and authentication challenges have in common.
 *
 * A session has a public link that accepts one answer, until it ends. `begins` and `ends` are times of a
 * clock that does not follow changes of the system clock; `expire_at` is for readers.
 */
import { sql, type Selectable } from 'kysely'
import { steadyNow } from '../../foundation/clock.ts'
import type { Config } from '../../foundation/config/config.ts'
import { newId } from '../../foundation/id.ts'
import { Problem, type ProblemType } from '../../foundation/problem.ts'
import { appendEvent } from '../../wallet/events/event.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { noteChange } from '../../foundation/storage/tx-context.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { WalletTokens } from '../../wallet/wallet-tokens.ts'
import { newShortLink, toShortUrl } from '../../wallet/short-links.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { assertIdLength, type CreateSession, toResult, type OperationResult } from './model.ts'
import { readSessionOpenId4Vp, requestForSession, withdrawRequest } from './openid4vp-request.ts'

/** The row of a session. */
export type Session = Omit<Selectable<WalletTables['enterprise_session']>, 'sequence'>

/**
 * Transitions: state before, trigger, state after. An unanswered session stays `pending` after its link has
 * expired.
 */
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
  /** Whether a success can be exchanged for a token. */
  hasToken: boolean
  eventType: 'DidRequestUpdated' | 'AuthenticationChallengeUpdated'
  notFound: ProblemType
  expired: { type: ProblemType; title?: string }
}

/** The choices of the tenant for a session. */
export type SessionChoices = Partial<CreateSession> & { expectedDid?: string | undefined }

/**
 * Creates a session, whose link is open for the lifetime of its product.
 *
 * @throws {Problem} for options that cannot be used
 */
export async function createSession(
  wallet: Wallet,
  product: Product,
  { from, expectedDid, openid4vp }: SessionChoices,
): Promise<Session> {
  const { config, tokens } = wallet.env
  const lifetimeSeconds = product.lifetimeSeconds(config)
  const lifetimeMs = lifetimeSeconds * 1_000
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
    expected_did: expectedDid ?? null,
    answered_by: null,
    openid4vp: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  }
  const options = openid4vp ?? (config.ENTERPRISE_OPENID4VP ? {} : undefined)
  if (!options) {
    await wallet.transaction((tx) => insert(tx, wallet, product, row))
    return row
  }
  await requestForSession(wallet, options, {
    id: row.id,
    lifetimeSeconds,
    store(tx, request) {
      row.openid4vp = JSON.stringify(request)
      return insert(tx, wallet, product, row)
    },
  })
  return row
}

async function insert(tx: Tx, wallet: Wallet, product: Product, row: Session): Promise<void> {
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from enterprise_session)`
  await tx
    .insertInto('enterprise_session')
    .values({ sequence, ...row })
    .execute()
  await putSessionEvent(tx, wallet, product, row)
}

/** The short link and the result of a session, as the API returns them; `base` is the public base URL. */
export function resultOf(row: Session, base: string) {
  const { short_id, did, state, expected_did, answered_by, openid4vp, created_at, updated_at } = row
  return {
    ...(short_id !== null && { shortUrl: toShortUrl(base, short_id) }),
    ...(expected_did !== null && { expectedDid: expected_did }),
    did,
    state,
    ...(openid4vp !== null && {
      ...(answered_by !== null && { answeredBy: answered_by }),
      openid4vp: readSessionOpenId4Vp(openid4vp),
    }),
    createdAt: created_at,
    updatedAt: updated_at,
  }
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
  const deleted = await wallet.transaction(async (tx) => {
    noteChange(tx, `session ${id}`)
    const row = await tx
      .deleteFrom('enterprise_session')
      .where('product', '=', product.name)
      .where('id', '=', id)
      .returning('openid4vp')
      .executeTakeFirst()
    if (row) await withdrawRequest(tx, wallet, row, `The ${product.noun} was deleted.`)
    return row
  })
  if (!deleted) throw notFound(product, id)
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

/** A session of either product. */
export function findSessionById(db: Db, id: string): Promise<Session | undefined> {
  return db.selectFrom('enterprise_session').selectAll().where('id', '=', id).executeTakeFirst()
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

/** The Cloud Agent has no events of sessions, so they are written only with `ENTERPRISE_EVENTS`. */
export async function putSessionEvent(
  tx: Tx,
  { env }: Wallet,
  product: Product,
  row: Session,
): Promise<void> {
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
  const detail = `The ${noun} has been answered already, or it has ended. If you have just answered, you are done. Otherwise ask for another.`
  return new Problem(type, detail, { ...(title !== undefined && { title }) })
}
