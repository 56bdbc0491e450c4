/**
 * What DID requests and challenges have in common: a row with a link that takes one answer, once, and not for ever (service §3.5).
 *
 * Whether a link is still open is decided in one statement of SQL, together with its closing, by a clock that setting the system's does not
 * move; `expire_at` is for people and other machines to read.
 */
import { sql, type Selectable } from 'kysely'
import { steadyNow } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import type { Db, Tx } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Config } from '../base/config.ts'
import { appendEvent } from '../events/event.ts'

export type Session = Omit<Selectable<WalletTables['enterprise_session']>, 'sequence'>

/** Begins a session whose link is open for `seconds`. Returns its row, which is yet to be kept. */
export function newSession(
  product: Product,
  seconds: number,
  made: { submissionId: string; from?: string | undefined },
): Session {
  const now = new Date()
  const steady = steadyNow()
  return {
    id: newId(),
    product,
    submission_id: made.submissionId,
    from_label: made.from ?? null,
    nonce: null,
    state: transition(product, 'created').to,
    did: null,
    expire_at: new Date(now.getTime() + seconds * 1_000).toISOString(),
    begins: new Date(steady).toISOString(),
    ends: new Date(steady + seconds * 1_000).toISOString(),
    submitted_at: null,
    token_until: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  }
}

export async function keepSession(tx: Tx, row: Session): Promise<void> {
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from enterprise_session)`
  await tx
    .insertInto('enterprise_session')
    .values({ sequence, ...row })
    .execute()
}

/** The session with an id. */
export function findSession(db: Db, product: Product, id: string): Promise<Session | undefined> {
  return db
    .selectFrom('enterprise_session')
    .selectAll()
    .where('product', '=', product)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The session that a link belongs to; nothing when it was deleted. */
export function findLinked(db: Db, product: Product, submissionId: string): Promise<Session | undefined> {
  const sessions = db.selectFrom('enterprise_session').selectAll().where('product', '=', product)
  return sessions.where('submission_id', '=', submissionId).executeTakeFirst()
}

/** A page of sessions in the order of their making, and how many there are. */
export function listSessions(
  db: Db,
  product: Product,
  paging: Paging,
): Promise<{ rows: Session[]; total: number }> {
  return pageOf(
    db.selectFrom('enterprise_session').selectAll().where('product', '=', product),
    ['sequence'],
    paging,
  )
}

/** Takes the session away with its link. False when there is none. */
export async function deleteSession(tx: Tx, product: Product, id: string): Promise<boolean> {
  const deletion = tx.deleteFrom('enterprise_session').where('product', '=', product).where('id', '=', id)
  return (await deletion.executeTakeFirstOrThrow()).numDeletedRows > 0
}

/** Whether the link has taken its answer for sure; whether it takes one, `claim` alone can say. */
export function isClosed({ submitted_at }: Session): boolean {
  return submitted_at !== null
}

/** Whether the link takes an answer as things are: for showing it, since only `claim` decides. */
export function isOpen({ state, product, submitted_at, begins, ends }: Session): boolean {
  const now = new Date(steadyNow()).toISOString()
  return state === transition(product, 'valid').from && submitted_at === null && begins <= now && now < ends
}

/** Closes the link for the one answer that it takes. False when it is closed already, used or ended: of many at once, one is told true. */
export async function claim(tx: Tx, { id, product }: Session): Promise<boolean> {
  const now = new Date(steadyNow()).toISOString()
  const { numUpdatedRows } = await tx
    .updateTable('enterprise_session')
    .set({ submitted_at: now })
    .where('id', '=', id)
    .where('state', '=', transition(product, 'valid').from!)
    .where('submitted_at', 'is', null)
    // A clock that was set back before the process began would keep a link open for longer than it was to be.
    .where('begins', '<=', now)
    .where('ends', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0
}

/** Writes down what came of the answer that was claimed. Returns the row as it is now; nothing when it was deleted meanwhile. */
export async function settle(
  tx: Tx,
  { id, product }: Session,
  on: Exclude<Trigger, 'created'>,
  outcome: { did?: string; tokenUntil?: string } = {},
): Promise<Session | undefined> {
  const { from, to } = transition(product, on)
  return tx
    .updateTable('enterprise_session')
    .set({
      state: to,
      did: outcome.did ?? null,
      token_until: outcome.tokenUntil ?? null,
      updated_at: new Date().toISOString(),
    })
    .where('id', '=', id)
    .where('state', '=', from!)
    .returningAll()
    .executeTakeFirst()
}

/** How long, in milliseconds, something may still come of a session; 0 when nothing can. */
export function openFor({ state, product, submitted_at, ends }: Session): number {
  if (state !== transition(product, 'valid').from) return 0
  // What is being evaluated takes as long as it takes, which is not long.
  return submitted_at === null ? Math.max(0, Date.parse(ends) - steadyNow()) : 10_000
}

type Row = readonly [from: string | null, on: string, to: string]

export const didRequestStates = [
  [null, 'created', 'pending'],
  ['pending', 'valid', 'success'],
  ['pending', 'invalid', 'error'],
] as const satisfies readonly Row[]

export const challengeStates = [
  [null, 'created', 'pending'],
  ['pending', 'valid', 'success'],
  ['pending', 'invalid', 'error'],
] as const satisfies readonly Row[]

/** Both products have the same states; which of them a table belongs to is its name. */
export const tables = { onboard: didRequestStates, authenticate: challengeStates } as const
export type Product = keyof typeof tables
export type Trigger = (typeof tables)[Product][number][1]
export type State = (typeof tables)[Product][number][2]

/** Where a trigger leads, and from where. */
export function transition(product: Product, on: Trigger): { from: State | null; to: State } {
  const [from, , to] = tables[product].find((row) => row[1] === on)!
  return { from, to }
}

/** Writes an event down with the change that it tells of, if they are wanted; `data` is the resource as it is now. */
export async function announce(
  tx: Tx,
  { ENTERPRISE_EVENTS }: Pick<Config, 'ENTERPRISE_EVENTS'>,
  type: 'DidRequestUpdated' | 'AuthenticationChallengeUpdated',
  data: { id: string },
): Promise<void> {
  if (ENTERPRISE_EVENTS) await appendEvent(tx, { type, subject: data.id, data })
}
