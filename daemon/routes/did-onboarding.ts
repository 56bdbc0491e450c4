/** `/onboard` (service §4.7, api.md 8): DID requests, and their public links. `/did-requests` and `/enterprise/…` lead here too. */
import { z } from 'zod'
import { CreateSession, OperationResult } from '../../src/enterprise/model.ts'
import {
  createDidRequest,
  deleteDidRequest,
  DidRequest,
  DidRequestState,
  DidSubmission,
  getDidRequest,
  listDidRequests,
  showDidRequest,
  submitDid,
  toDidRequestState,
  walletOfRequest,
} from '../../src/enterprise/onboarding.ts'
import { answerDidRequest, AnswerDidRequest, OnboardAnswer } from '../../src/enterprise/respond.ts'
import { openFor } from '../../src/enterprise/session.ts'
import { Paging } from '../http/paging.ts'
import { didRequestPage } from '../pages/did-request.ts'
import { answerInForm, pageMedia } from '../pages/page.ts'
import { route } from '../http/route.ts'
import { Collection, toCollection, Wait, watch } from './_sessions.ts'

const path = { didRequestId: z.string() }
const suite = 'enterprise'

export default [
  route(
    'POST /onboard/did-requests',
    {
      summary: 'Create a DID request',
      operationId: 'createDidRequest',
      access: 'tenant',
      scopes: ['issuer', 'verifier'],
      suite,
      body: CreateSession,
      reply: [200, DidRequestState],
    },
    async ({ wallet, agent }, { body }) =>
      toDidRequestState(await createDidRequest(wallet, agent.enterprise, body), agent.env.urls.rest),
  ),

  route(
    'GET /onboard/did-requests',
    {
      summary: 'List the DID requests',
      operationId: 'listDidRequests',
      access: 'tenant',
      suite,
      query: Paging,
      reply: [200, Collection(DidRequestState, 'DidRequestCollection')],
    },
    async ({ wallet, agent }, { query }) => {
      const { rest } = agent.env.urls
      const { rows, total } = await listDidRequests(wallet.db, query)
      return toCollection(
        `${rest}/did-requests`,
        { ...query, total },
        rows.map((row) => toDidRequestState(row, rest)),
      )
    },
  ),

  route(
    'GET /onboard/did-requests/{didRequestId}',
    {
      summary: 'Read a DID request; `wait` until it is answered, for some seconds',
      operationId: 'getDidRequest',
      access: 'tenant',
      suite,
      path,
      query: Wait,
      reply: [200, DidRequestState],
    },
    async ({ wallet, agent }, { path: { didRequestId: id }, query: { wait }, whenGone }) => {
      const read = () => getDidRequest(wallet.db, id)
      return toDidRequestState(
        await watch(agent.enterprise, { id, read, seconds: wait, whenGone }),
        agent.env.urls.rest,
      )
    },
  ),

  route(
    'DELETE /onboard/did-requests/{didRequestId}',
    {
      summary: 'Delete a DID request',
      operationId: 'deleteDidRequest',
      access: 'tenant',
      scopes: ['issuer', 'verifier'],
      suite,
      path,
      reply: [200, OperationResult],
    },
    ({ wallet, agent }, { path: { didRequestId } }) =>
      deleteDidRequest(wallet, agent.enterprise, didRequestId),
  ),

  route(
    'GET /onboard/{didRequestSubmissionId}',
    {
      summary: 'Read the DID request of a link; as a page in a browser',
      operationId: 'getDidRequestSubmission',
      extension: true,
      access: 'public',
      suite,
      path: { didRequestSubmissionId: z.string() },
      media: pageMedia,
      reply: [200, DidRequest],
    },
    ({ agent }, { path: { didRequestSubmissionId: id }, accepts }) =>
      answerInForm(accepts, {
        see: async () => {
          const walletId = await walletOfRequest(agent.enterprise, id)
          const row = await agent.wallets.use(walletId, ({ db }) => showDidRequest(db, id))
          return { row, didRequest: toDidRequestState(row, agent.env.urls.rest).didRequest }
        },
        toJson: ({ didRequest }) => didRequest,
        toPage: ({ didRequest, row }) =>
          didRequestPage(didRequest, { endsAt: new Date(row.expire_at), staleAfterMs: openFor(row) }),
      }),
  ),

  route(
    'POST /onboard/{didRequestSubmissionId}',
    {
      summary: 'Answer a DID request with a DID, or decline it',
      operationId: 'submitDidRequest',
      access: 'public',
      suite,
      path: { didRequestSubmissionId: z.string() },
      body: DidSubmission,
      anyBody: true,
      reply: [200, OperationResult],
    },
    async ({ agent }, { path: { didRequestSubmissionId: id }, body, address }) => {
      await agent.enterprise.admit(address, id)
      const walletId = await walletOfRequest(agent.enterprise, id)
      return agent.wallets.use(walletId, (wallet) => submitDid(wallet, agent.enterprise, id, body))
    },
  ),

  route(
    'POST /onboard/answers',
    {
      summary: 'Answer somebody else’s DID request with a DID of this wallet, or decline it',
      operationId: 'answerDidRequest',
      extension: true,
      access: 'tenant',
      scopes: ['holder'],
      suite,
      body: AnswerDidRequest,
      reply: [200, OnboardAnswer],
    },
    ({ wallet }, { body }) => answerDidRequest(wallet, body),
  ),
] as const
