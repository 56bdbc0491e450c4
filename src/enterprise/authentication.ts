/**
 * Authenticate (service §2.11, §3.5, §4.7; api.md 8): somebody shows that a DID is theirs by signing a nonce, once, in a short time.
 *
 * The first answer to a challenge is the only one: the link is closed before the answer is looked at, so that of many at once one is
 * evaluated. A process that dies between the two leaves the challenge `pending`, and its link closed.
 */
import { z } from 'zod'
import { steadyNow } from '../base/clock.ts'
import { Problem } from '../base/problem.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { Paging } from '../storage/page.ts'
import type { Wallet } from '../wallet/wallet.ts'
import {
  announce,
  claim,
  deleteSession,
  findLinked,
  findSession,
  isClosed,
  isOpen,
  keepSession,
  listSessions,
  newSession,
  settle,
  type Session,
} from './session.ts'
import type { Enterprise } from './enterprise.ts'
import {
  From,
  mustBeShort,
  reasonIn,
  result,
  States,
  SubmittedDid,
  type CreateSession,
  type OperationResult,
} from './model.ts'
import { newNonce, invalid, mustHaveSigned } from './signature.ts'

export const challengeType = 'https://atalaprism.io/authentication-challenge'

/** What is handed over, by QR code or otherwise. */
export const Challenge = z
  .object({
    type: z.literal(challengeType),
    submissionEndpoint: z.url(),
    nonce: z.string(),
    from: From.optional(),
    expireAt: z.iso.datetime(),
  })
  .meta({ id: 'AuthenticationChallenge' })
export type Challenge = z.infer<typeof Challenge>

export const ChallengeState = z
  .object({
    self: z.url(),
    kind: z.literal('AuthenticationChallengeState'),
    id: z.string(),
    challenge: Challenge,
    did: z.string().nullable(),
    state: States,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'AuthenticationChallengeState' })
export type ChallengeState = z.infer<typeof ChallengeState>

export const ChallengeSubmission = z
  .object({ did: SubmittedDid, signature: z.string().min(1).max(1_000) })
  .meta({ id: 'ChallengeSubmission' })

/** A row as REST shows it; `base` is the public base URL. */
export function toChallengeState(row: Session, base: string): ChallengeState {
  const from = row.from_label
  return {
    self: `${base}/did-authentication/challenges/${row.id}`,
    kind: 'AuthenticationChallengeState',
    id: row.id,
    challenge: {
      type: challengeType,
      submissionEndpoint: `${base}/did-authentication/challenge-submissions/${row.submission_id}`,
      nonce: row.nonce!,
      ...(from !== null && { from }),
      expireAt: row.expire_at,
    },
    did: row.did,
    state: row.state,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Makes a challenge. */
export async function createChallenge(
  wallet: Wallet,
  enterprise: Enterprise,
  { from }: CreateSession,
): Promise<Session> {
  const { config, urls } = wallet.env
  const submissionId = enterprise.newSubmissionId('authenticate', wallet.id)
  const session = newSession('authenticate', config.AUTH_CHALLENGE_EXPIRY, { submissionId, from })
  const row = { ...session, nonce: newNonce({ aud: urls.rest, from }) }
  return wallet.transaction(async (tx) => {
    await keepSession(tx, row)
    await announceChallenge(tx, wallet, row)
    return row
  })
}

/** A challenge by its id. @throws {Problem} 404, and 400 for what is longer than any id. */
export async function getChallenge(db: Db, id: string): Promise<Session> {
  mustBeShort('challengeId', id)
  const row = await findSession(db, 'authenticate', id)
  if (!row) throw noChallenge(id)
  return row
}

export const listChallenges = (db: Db, page: Paging) => listSessions(db, 'authenticate', page)

/** Removes a challenge and closes its link. @throws {Problem} 404 */
export async function deleteChallenge(
  wallet: Wallet,
  enterprise: Enterprise,
  id: string,
): Promise<OperationResult> {
  const isDeleted = await wallet.transaction((tx) => deleteSession(tx, 'authenticate', id))
  enterprise.waiters.wake(id)
  if (!isDeleted) throw noChallenge(id)
  return result(
    'Authentication challenge deleted',
    `The challenge ${id} is deleted, and its link takes no answer any more.`,
  )
}

/** The wallet that asks by a link. @throws {Problem} 400 for no id at all, 404 for a link that was never issued. */
export async function walletOfChallenge(enterprise: Enterprise, submissionId: string): Promise<string> {
  mustBeShort('challengeSubmissionId', submissionId)
  const walletId = await enterprise.openSubmissionId('authenticate', submissionId)
  if (walletId !== undefined) return walletId
  const detail = 'This link was not issued here. Use the submissionEndpoint as the challenge has it.'
  throw new Problem('/errors/authenticate/challenge-not-found', detail)
}

/** The challenge of a link that takes an answer; looking at it changes nothing. @throws {Problem} 410 */
export async function showChallenge(db: Db, submissionId: string): Promise<Session> {
  const row = await findLinked(db, 'authenticate', submissionId)
  if (!row || !isOpen(row)) throw expired()
  return row
}

/**
 * Takes the answer to a challenge: `body` is the JSON that came, whatever it is.
 *
 * @throws {Problem} 410 when the link is used, deleted or over, 400 when the answer does not hold; the challenge has ended then too.
 */
export async function submitResponse(
  wallet: Wallet,
  enterprise: Enterprise,
  submissionId: string,
  body: unknown,
): Promise<OperationResult> {
  const row = await findLinked(wallet.db, 'authenticate', submissionId)
  if (!row || isClosed(row) || !(await wallet.transaction((tx) => claim(tx, row)))) throw expired()
  const outcome = await evaluate(wallet, row, body)
  const tokenUntil = new Date(steadyNow() + wallet.env.config.AUTH_CHALLENGE_EXPIRY * 1_000).toISOString()
  const settled = await wallet.transaction(async (tx) => {
    const after =
      'did' in outcome
        ? await settle(tx, row, 'valid', { did: outcome.did, tokenUntil })
        : await settle(tx, row, 'invalid')
    if (after) await announceChallenge(tx, wallet, after)
    return after
  })
  enterprise.waiters.wake(row.id)
  if (!settled) throw expired()
  if ('failure' in outcome) throw outcome.failure
  return result('Authentication successful', 'The signature was verified, and whoever asked for it is told.')
}

/** The DID that has signed, or what is wrong with the answer. Whatever else goes wrong ends the challenge too. */
async function evaluate(
  wallet: Wallet,
  { nonce }: Session,
  body: unknown,
): Promise<{ did: string } | { failure: unknown }> {
  const { config, resolver } = wallet.env
  try {
    const parsed = ChallengeSubmission.safeParse(body)
    if (!parsed.success) throw invalid(reasonIn(parsed.error))
    const { did, signature } = parsed.data
    await mustHaveSigned(
      { nonce: nonce!, did, signature },
      { resolve: resolver.document, methods: config.AUTH_DID_METHODS },
    )
    return { did }
  } catch (failure) {
    return { failure }
  }
}

function announceChallenge(tx: Tx, wallet: Wallet, row: Session): Promise<void> {
  return announce(
    tx,
    wallet.env.config,
    'AuthenticationChallengeUpdated',
    toChallengeState(row, wallet.env.urls.rest),
  )
}

export function noChallenge(id: string): Problem {
  return new Problem('/errors/authenticate/challenge-not-found', `There is no challenge ${id.slice(0, 100)}.`)
}

function expired(): Problem {
  const detail = 'The challenge has been answered already, or it has ended. Ask for another.'
  return new Problem('/errors/authenticate/challenge-expired', detail, { title: 'Session expired' })
}
