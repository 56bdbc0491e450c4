/**
 * DID requests: an organisation asks for a DID by a link, which accepts one answer.
 *
 * The DID is stored as it was sent: anyone with the link can send any DID. An authentication challenge proves
 * the control of a DID.
 */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { Problem } from '../../foundation/problem.ts'
import { Did } from '../../did/document.ts'
import { checkDid } from '../../did/methods.ts'
import { methodOf } from '../../definitions/did-names.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { From, LinkedRequest, SessionResult, SubmittedDid, toResult, type OperationResult } from './model.ts'
import { findSessionOfLink, linkClosed, resultOf, type Product } from './session.ts'
import { claimForSubmission, finish } from './session-answer.ts'

export const didRequestType = 'https://atalaprism.io/did-request'

/** The document that the other side gets, for example as a QR code. */
export const DidRequest = z
  .object({ type: z.literal(didRequestType), onboardEndpoint: z.url(), from: From.optional() })
  .meta({ id: 'DidRequest' })
export type DidRequest = z.infer<typeof DidRequest>

export const LinkedDidRequest = DidRequest.extend(LinkedRequest).meta({ id: 'LinkedDidRequest' })

export const DidRequestState = z
  .object({
    self: z.url(),
    kind: z.literal('DidRequestState'),
    id: z.string(),
    didRequest: DidRequest,
    ...SessionResult.shape,
  })
  .meta({ id: 'DidRequestState' })
export type DidRequestState = z.infer<typeof DidRequestState>

export const DidSubmission = z.object({ did: SubmittedDid }).meta({ id: 'DidSubmission' })

export const didRequests: Product<DidRequestState> = {
  name: 'onboard',
  noun: 'DID request',
  linkMember: 'onboardEndpoint',
  linkParameter: 'didRequestSubmissionId',
  lifetimeSeconds: (config) => config.DID_REQUEST_EXPIRY,
  toState: (row, base) => ({
    self: `${base}/did-requests/${row.id}`,
    kind: 'DidRequestState',
    id: row.id,
    didRequest: {
      type: didRequestType,
      onboardEndpoint: `${base}/onboard/${row.submission_id}`,
      ...(row.from_label !== null && { from: row.from_label }),
    },
    ...resultOf(row, base),
  }),
  hasToken: false,
  eventType: 'DidRequestUpdated',
  notFound: '/errors/onboard/did-request-not-found',
  expired: { type: '/errors/onboard/did-request-expired' },
}

/**
 * Stores the answer to a DID request; `body` is any JSON value. Anything but a DID, such as null, declines.
 * The request ends either way.
 *
 * @throws {Problem} 410 when the link is used, deleted or expired; 400 when the answer has no DID.
 */
export async function submitDid(
  wallet: Wallet,
  submissionId: string,
  body: unknown,
): Promise<OperationResult> {
  const row = await findSessionOfLink(wallet.db, didRequests, submissionId)
  const { did, fault } = parseDid(body)
  const isAccepted =
    row &&
    (await wallet.transaction(
      async (tx) =>
        (await claimForSubmission(tx, wallet, row)) &&
        finish(tx, wallet, didRequests, row, { did, answeredBy: 'submission' }),
    ))
  if (!isAccepted) throw linkClosed(didRequests)
  if (did !== undefined) return toResult('DID received', 'The DID was passed on to the organisation.')
  const detail = `${fault}. The DID request has ended; ask for another.`
  throw new Problem('/errors/onboard/invalid-did', detail, { title: 'Invalid DID' })
}

function parseDid(body: unknown): { did: string; fault?: never } | { did?: never; fault: string } {
  const parsed = DidSubmission.safeParse(body)
  if (!parsed.success) return { fault: firstFault(parsed.error) }
  const { did } = parsed.data
  const fault = findDidFault(did)
  return fault === undefined ? { did } : { fault: `did: ${fault}` }
}

/**
 * The reason why a text is not a DID (DID Core §3.1), or is not valid by the rules of its method. Undefined
 * for a DID. The DID may still not resolve, and the sender may not control it: a did:peer of numalgo 1, which
 * only its maker can resolve, is a DID too.
 */
export function findDidFault(text: string): string | undefined {
  if (methodOf(text) === undefined || !Did.safeParse(text).success)
    return 'it is not did:, a method in lower case, a colon, and an identifier'
  try {
    checkDid(text)
    return undefined
  } catch (error) {
    if (error instanceof Problem && error.type === 'error:DIDResolution:invalidDid') return error.message
    if (error instanceof Problem) return undefined
    throw error
  }
}
