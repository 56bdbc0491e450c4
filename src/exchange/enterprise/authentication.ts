/**
 * Authentication challenges: the holder of a DID signs a nonce to prove that they control the DID.
 *
 * The link is closed before the answer is evaluated, so that of many answers only one is. If the process dies
 * in between, the challenge stays `pending` and its link closed.
 */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { optional } from '../../wallet/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import {
  CreateSession,
  From,
  LinkedRequest,
  SessionResult,
  SubmittedDid,
  toResult,
  type OperationResult,
} from './model.ts'
import { findSessionOfLink, linkClosed, resultOf, type Product, type Session } from './session.ts'
import { claimForSubmission, finish } from './session-answer.ts'
import { isSameDid } from '../../did/jwk.ts'
import { findDidFault } from './onboarding.ts'
import { assertSigned, invalidResponse, newNonce } from './signature.ts'

export const challengeType = 'https://atalaprism.io/authentication-challenge'

/** The document that the holder gets, for example as a QR code. */
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

export const LinkedChallenge = Challenge.extend(LinkedRequest).meta({ id: 'LinkedAuthenticationChallenge' })

/** A DID that its method accepts. */
const ExpectedDid = SubmittedDid.superRefine((did, context) => {
  const fault = findDidFault(did)
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
})

export const CreateChallenge = CreateSession.extend({
  expectedDid: optional(ExpectedDid).describe(
    'The DID that must answer, known from onboarding (extension). Default: any.',
  ),
}).meta({ id: 'AuthenticationChallengeRequest' })
export type CreateChallenge = z.output<typeof CreateChallenge>

export const ChallengeState = z
  .object({
    self: z.url(),
    kind: z.literal('AuthenticationChallengeState'),
    id: z.string(),
    challenge: Challenge,
    ...SessionResult.shape,
    expectedDid: z.string().optional().describe('The DID that must answer (extension).'),
  })
  .meta({ id: 'AuthenticationChallengeState' })
export type ChallengeState = z.infer<typeof ChallengeState>

export const ChallengeSubmission = z
  .object({ did: SubmittedDid, signature: z.string().min(1).max(1_000) })
  .meta({ id: 'ChallengeSubmission' })

export const challenges: Product<ChallengeState> = {
  name: 'authenticate',
  noun: 'challenge',
  linkMember: 'submissionEndpoint',
  linkParameter: 'challengeSubmissionId',
  idParameter: 'challengeId',
  lifetimeSeconds: (config) => config.AUTH_CHALLENGE_EXPIRY,
  newNonce: ({ env }, from) => newNonce({ aud: env.urls.rest, from }),
  toState: (row, base) => ({
    self: `${base}/did-authentication/challenges/${row.id}`,
    kind: 'AuthenticationChallengeState',
    id: row.id,
    challenge: {
      type: challengeType,
      submissionEndpoint: `${base}/did-authentication/challenge-submissions/${row.submission_id}`,
      nonce: row.nonce!,
      ...(row.from_label !== null && { from: row.from_label }),
      expireAt: row.expire_at,
    },
    ...resultOf(row, base),
  }),
  hasToken: true,
  eventType: 'AuthenticationChallengeUpdated',
  notFound: '/errors/authenticate/challenge-not-found',
  expired: { type: '/errors/authenticate/challenge-expired', title: 'Session expired' },
}

/**
 * Evaluates the answer to a challenge; `body` is any JSON value. The challenge ends, also when the answer is
 * not valid.
 *
 * @throws {Problem} 410 when the link is used, deleted or expired; 400 when the answer is not valid.
 */
export async function submitResponse(
  wallet: Wallet,
  submissionId: string,
  body: unknown,
): Promise<OperationResult> {
  const row = await findSessionOfLink(wallet.db, challenges, submissionId)
  if (!row || !(await wallet.transaction((tx) => claimForSubmission(tx, wallet, row))))
    throw linkClosed(challenges)
  const { did, failure } = await evaluate(wallet, row, body)
  const isFinished = await wallet.transaction((tx) =>
    finish(tx, wallet, challenges, row, { did, answeredBy: 'submission' }),
  )
  if (!isFinished) throw linkClosed(challenges)
  if (did === undefined) throw failure
  return toResult(
    'Authentication successful',
    'The signature was verified, and the organisation was notified.',
  )
}

/** The DID that signed, or the failure of the answer. Any error is a failure, so that the challenge ends. */
async function evaluate(
  wallet: Wallet,
  { nonce, expected_did: expected }: Session,
  body: unknown,
): Promise<{ did: string; failure?: never } | { did?: never; failure: unknown }> {
  const { config, resolver } = wallet.env
  try {
    const parsed = ChallengeSubmission.safeParse(body)
    if (!parsed.success) throw invalidResponse(firstFault(parsed.error))
    const { did, signature } = parsed.data
    const answer = { nonce: nonce!, did, signature }
    await assertSigned(answer, { resolve: resolver.document, methods: config.AUTH_DID_METHODS })
    if (expected !== null && !isSameDid(did, expected))
      throw invalidResponse('did: it is not the DID that the challenge is for')
    return { did }
  } catch (failure) {
    return { failure }
  }
}
