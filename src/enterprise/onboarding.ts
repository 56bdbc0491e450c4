/**
 * Onboard (service §2.10, §3.5, §4.7; api.md 8): an organisation asks for somebody's DID by a link, which takes one answer.
 *
 * The DID is taken as it is: whoever has the link may name any. That they control it shows when they sign a challenge.
 */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { Paging } from '../storage/page.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Enterprise } from './enterprise.ts'
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
import { Did } from '../did/document.ts'
import { resolveJwkDid } from '../did/jwk.ts'
import { resolveKeyDid } from '../did/key.ts'
import { resolvePeerDid } from '../did/peer.ts'
import { embeddedState, parsePrismDid } from '../did/prism/did.ts'
import { toUrl } from '../did/web.ts'

export const didRequestType = 'https://atalaprism.io/did-request'

/** What is handed over, by QR code or otherwise. */
export const DidRequest = z
  .object({ type: z.literal(didRequestType), onboardEndpoint: z.url(), from: From.optional() })
  .meta({ id: 'DidRequest' })
export type DidRequest = z.infer<typeof DidRequest>

export const DidRequestState = z
  .object({
    self: z.url(),
    kind: z.literal('DidRequestState'),
    id: z.string(),
    didRequest: DidRequest,
    did: z.string().nullable(),
    state: States,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'DidRequestState' })
export type DidRequestState = z.infer<typeof DidRequestState>

export const DidSubmission = z.object({ did: SubmittedDid }).meta({ id: 'DidSubmission' })

/** A row as REST shows it; `base` is the public base URL. */
export function toDidRequestState(row: Session, base: string): DidRequestState {
  const from = row.from_label
  return {
    self: `${base}/did-requests/${row.id}`,
    kind: 'DidRequestState',
    id: row.id,
    didRequest: {
      type: didRequestType,
      onboardEndpoint: `${base}/onboard/${row.submission_id}`,
      ...(from !== null && { from }),
    },
    did: row.did,
    state: row.state,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Makes a DID request. */
export async function createDidRequest(
  wallet: Wallet,
  enterprise: Enterprise,
  { from }: CreateSession,
): Promise<Session> {
  const { config } = wallet.env
  const submissionId = enterprise.newSubmissionId('onboard', wallet.id)
  const row = newSession('onboard', config.DID_REQUEST_EXPIRY, { submissionId, from })
  return wallet.transaction(async (tx) => {
    await keepSession(tx, row)
    await announceRequest(tx, wallet, row)
    return row
  })
}

/** A DID request by its id. @throws {Problem} 404 */
export async function getDidRequest(db: Db, id: string): Promise<Session> {
  const row = await findSession(db, 'onboard', id)
  if (!row) throw notFound(id)
  return row
}

export const listDidRequests = (db: Db, page: Paging) => listSessions(db, 'onboard', page)

/** Removes a DID request and closes its link. @throws {Problem} 404 */
export async function deleteDidRequest(
  wallet: Wallet,
  enterprise: Enterprise,
  id: string,
): Promise<OperationResult> {
  const isDeleted = await wallet.transaction((tx) => deleteSession(tx, 'onboard', id))
  enterprise.waiters.wake(id)
  if (!isDeleted) throw notFound(id)
  return result(
    'DID request deleted',
    `The DID request ${id} is deleted, and its link takes no answer any more.`,
  )
}

/** The wallet that asks by a link. @throws {Problem} 400 for no id at all, 404 for a link that was never issued. */
export async function walletOfRequest(enterprise: Enterprise, submissionId: string): Promise<string> {
  mustBeShort('didRequestSubmissionId', submissionId)
  const walletId = await enterprise.openSubmissionId('onboard', submissionId)
  if (walletId !== undefined) return walletId
  throw new Problem(
    '/errors/onboard/did-request-not-found',
    'This link was not issued here. Use the onboardEndpoint as the DID request has it.',
  )
}

/** The DID request of a link that takes an answer; looking at it changes nothing. @throws {Problem} 410 */
export async function showDidRequest(db: Db, submissionId: string): Promise<Session> {
  const row = await findLinked(db, 'onboard', submissionId)
  if (!row || !isOpen(row)) throw expired()
  return row
}

/**
 * Takes the answer to a DID request: `body` is the JSON that came, whatever it is. Anything but a DID, `null` above all, declines.
 *
 * @throws {Problem} 410 when the link is used, deleted or over, 400 when there is no DID in the answer; the request has ended then too.
 */
export async function submitDid(
  wallet: Wallet,
  enterprise: Enterprise,
  submissionId: string,
  body: unknown,
): Promise<OperationResult> {
  const row = await findLinked(wallet.db, 'onboard', submissionId)
  const { did, reason } = readDid(body)
  const isTaken =
    row !== undefined &&
    !isClosed(row) &&
    (await wallet.transaction(async (tx) => {
      if (!(await claim(tx, row))) return false
      const settled = await settle(
        tx,
        row,
        did === undefined ? 'invalid' : 'valid',
        did === undefined ? {} : { did },
      )
      await announceRequest(tx, wallet, settled!)
      return true
    }))
  if (!isTaken) throw expired()
  enterprise.waiters.wake(row.id)
  if (did === undefined)
    throw new Problem(
      '/errors/onboard/invalid-did',
      `${reason}. The DID request has ended; ask for another.`,
      { title: 'Invalid DID' },
    )
  return result('DID received', 'The DID was passed on to whoever asked for it.')
}

/** The DID in a body, or the reason why there is none. */
function readDid(body: unknown): { did: string; reason?: never } | { did?: never; reason: string } {
  const parsed = DidSubmission.safeParse(body)
  if (!parsed.success) return { reason: reasonIn(parsed.error) }
  const { did } = parsed.data
  const reason = whyNoDid(did)
  return reason === undefined ? { did } : { reason: `did: ${reason}` }
}

function announceRequest(tx: Tx, wallet: Wallet, row: Session): Promise<void> {
  return announce(tx, wallet.env.config, 'DidRequestUpdated', toDidRequestState(row, wallet.env.urls.rest))
}

function notFound(id: string): Problem {
  return new Problem('/errors/onboard/did-request-not-found', `There is no DID request ${id.slice(0, 100)}.`)
}

function expired(): Problem {
  return new Problem(
    '/errors/onboard/did-request-expired',
    'The DID request has been answered already, or it has ended. Ask for another.',
  )
}

/** What is checked of methods that are known here; of others, the syntax alone. */
const rules: Readonly<Record<string, (did: string) => unknown>> = {
  peer: resolvePeerDid,
  key: resolveKeyDid,
  jwk: resolveJwkDid,
  web: (did) => toUrl(did),
  prism(did) {
    const { operation } = parsePrismDid(did)
    return operation && embeddedState(did, operation)
  },
}

/**
 * The reason why a text is no DID; nothing when it is one. That it resolves, or that whoever sent it controls it, is not said. A DID that its
 * method allows and nobody but its maker can resolve, such as a did:peer of numalgo 1, is one too.
 */
export function whyNoDid(text: string): string | undefined {
  const method = /^did:([a-z0-9]+):/.exec(text)?.[1]
  if (method === undefined || !Did.safeParse(text).success)
    return 'it is not did:, a method in lower case, a colon, and an identifier'
  try {
    if (Object.hasOwn(rules, method)) rules[method]!(text)
    return undefined
  } catch (error) {
    if (error instanceof Problem && error.type === 'error:DIDResolution:invalidDid') return error.message
    if (error instanceof Problem) return undefined
    throw error
  }
}
