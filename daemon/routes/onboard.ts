/** `/onboard`: DID requests and their public links. `/did-requests` and `/enterprise/…` are aliases. */
import * as z from 'zod'
import { CreateSession, OperationResult, withRequest } from '../../src/exchange/enterprise/model.ts'
import {
  didRequests,
  DidRequestState,
  DidSubmission,
  LinkedDidRequest,
  submitDid,
} from '../../src/exchange/enterprise/onboarding.ts'
import { answerDidRequest, AnswerDidRequest, OnboardAnswer } from '../../src/exchange/enterprise/respond.ts'
import { Paging } from '../http/paging.ts'
import { route } from '../http/route.ts'
import { livePage, replyLive } from '../pages/reply.ts'
import { Collection, createHandlers, Wait } from './_enterprise-sessions.ts'

const path = { didRequestId: z.string() }
const linkPath = { didRequestSubmissionId: z.string() }
const handlers = createHandlers(didRequests, '/did-requests')

export default [
  route(
    'POST /onboard/did-requests',
    {
      summary: 'Create a DID request',
      operationId: 'createDidRequest',
      access: 'tenant',
      scopes: ['issuer', 'verifier'],
      body: CreateSession,
      reply: [200, DidRequestState],
    },
    handlers.create,
  ),

  route(
    'GET /onboard/did-requests',
    {
      summary: 'List the DID requests',
      operationId: 'listDidRequests',
      access: 'tenant',
      query: Paging,
      reply: [200, Collection(DidRequestState, 'DidRequestCollection')],
    },
    handlers.list,
  ),

  route(
    'GET /onboard/did-requests/{didRequestId}',
    {
      summary: 'Read a DID request; `wait` some seconds for its answer',
      operationId: 'getDidRequest',
      access: 'tenant',
      path,
      query: Wait,
      reply: [200, DidRequestState],
    },
    (tenant, input) => handlers.get(tenant, input.path.didRequestId, input),
  ),

  route(
    'DELETE /onboard/did-requests/{didRequestId}',
    {
      summary: 'Delete a DID request',
      operationId: 'deleteDidRequest',
      access: 'tenant',
      scopes: ['issuer', 'verifier'],
      path,
      reply: [200, OperationResult],
    },
    (tenant, input) => handlers.delete(tenant, input.path.didRequestId),
  ),

  route(
    'GET /onboard/{didRequestSubmissionId}',
    {
      summary: 'Read the DID request of a link; a page in a browser',
      operationId: 'getDidRequestSubmission',
      extension: true,
      access: 'public',
      path: linkPath,
      ...livePage,
      reply: [200, LinkedDidRequest],
    },
    ({ agent }, { path: { didRequestSubmissionId }, ...input }) =>
      replyLive(agent.notifier, input, {
        read: () => handlers.readLink(agent, didRequestSubmissionId),
        toJson: ({ state }) => withRequest(state.didRequest, state.openid4vp),
        toPage: ({ state, row, remainingMs }, { didRequestPage }, texts) =>
          didRequestPage(texts, state.didRequest, {
            ...state.openid4vp,
            endsAt: new Date(row.expire_at),
            staleAfterMs: remainingMs,
          }),
        watch: handlers.watch,
      }),
  ),

  route(
    'POST /onboard/{didRequestSubmissionId}',
    {
      summary: 'Answer a DID request with a DID, or decline it',
      operationId: 'submitDidRequest',
      access: 'public',
      path: linkPath,
      body: DidSubmission,
      anyBody: true,
      reply: [200, OperationResult],
    },
    ({ agent }, { path: { didRequestSubmissionId: id }, body, address }) =>
      handlers.answer(agent, id, address, (wallet) => submitDid(wallet, id, body)),
  ),

  route(
    'POST /onboard/answers',
    {
      summary: 'Answer the DID request of another agent with a DID of this wallet, or decline it',
      operationId: 'answerDidRequest',
      extension: true,
      access: 'tenant',
      scopes: ['holder'],
      body: AnswerDidRequest,
      reply: [200, OnboardAnswer],
    },
    ({ wallet }, { body }) => answerDidRequest(wallet, body),
  ),
] as const
