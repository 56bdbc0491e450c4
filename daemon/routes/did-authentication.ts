/** `/did-authentication`: authentication challenges and their public links. `/enterprise/…` is an alias. */
import * as z from 'zod'
import {
  challenges,
  ChallengeState,
  ChallengeSubmission,
  CreateChallenge,
  LinkedChallenge,
  submitResponse,
} from '../../src/exchange/enterprise/authentication.ts'
import { OperationResult, withRequest } from '../../src/exchange/enterprise/model.ts'
import {
  answerChallenge,
  AnswerChallenge,
  AuthenticationAnswer,
} from '../../src/exchange/enterprise/respond.ts'
import { exchangeChallenge, Token } from '../../src/exchange/enterprise/token.ts'
import { Paging } from '../http/paging.ts'
import { route } from '../http/route.ts'
import { livePage, replyLive } from '../pages/reply.ts'
import { Collection, createHandlers, Wait } from './_enterprise-sessions.ts'

const path = { challengeId: z.string() }
const linkPath = { challengeSubmissionId: z.string() }
const handlers = createHandlers(challenges, '/did-authentication/challenges')

export default [
  route(
    'POST /did-authentication/challenges',
    {
      summary: 'Create an authentication challenge',
      operationId: 'createChallenge',
      access: 'tenant',
      scopes: ['verifier'],
      body: CreateChallenge,
      reply: [200, ChallengeState],
    },
    handlers.create,
  ),

  route(
    'GET /did-authentication/challenges',
    {
      summary: 'List the authentication challenges',
      operationId: 'listChallenges',
      access: 'tenant',
      query: Paging,
      reply: [200, Collection(ChallengeState, 'AuthenticationChallengeCollection')],
    },
    handlers.list,
  ),

  route(
    'GET /did-authentication/challenges/{challengeId}',
    {
      summary: 'Read an authentication challenge; `wait` some seconds for its answer',
      operationId: 'getChallenge',
      access: 'tenant',
      path,
      query: Wait,
      reply: [200, ChallengeState],
    },
    (tenant, input) => handlers.get(tenant, input.path.challengeId, input),
  ),

  route(
    'DELETE /did-authentication/challenges/{challengeId}',
    {
      summary: 'Delete an authentication challenge',
      operationId: 'deleteChallenge',
      access: 'tenant',
      scopes: ['verifier'],
      path,
      reply: [200, OperationResult],
    },
    (tenant, input) => handlers.delete(tenant, input.path.challengeId),
  ),

  route(
    'GET /did-authentication/challenge-submissions/{challengeSubmissionId}',
    {
      summary: 'Read the challenge of a link; a page in a browser',
      operationId: 'getChallengeSubmission',
      extension: true,
      access: 'public',
      path: linkPath,
      ...livePage,
      reply: [200, LinkedChallenge],
    },
    ({ agent }, { path: { challengeSubmissionId }, ...input }) =>
      replyLive(agent.notifier, input, {
        read: () => handlers.readLink(agent, challengeSubmissionId),
        toJson: ({ state }) => withRequest(state.challenge, state.openid4vp),
        toPage: ({ state, row, remainingMs }, { challengePage }, texts) =>
          challengePage(texts, state.challenge, {
            ...state.openid4vp,
            endsAt: new Date(row.expire_at),
            staleAfterMs: remainingMs,
          }),
        watch: handlers.watch,
      }),
  ),

  route(
    'POST /did-authentication/challenge-submissions/{challengeSubmissionId}',
    {
      summary: 'Answer an authentication challenge with a signature',
      operationId: 'submitChallenge',
      access: 'public',
      path: linkPath,
      body: ChallengeSubmission,
      anyBody: true,
      reply: [200, OperationResult],
    },
    ({ agent }, { path: { challengeSubmissionId: id }, body, address }) =>
      handlers.answer(agent, id, address, (wallet) => submitResponse(wallet, id, body)),
  ),

  route(
    'POST /did-authentication/challenges/{challengeId}/token',
    {
      summary: 'Exchange a successful challenge for a token, once',
      operationId: 'createChallengeToken',
      extension: true,
      access: 'tenant',
      scopes: ['verifier'],
      path,
      reply: [200, Token],
    },
    ({ wallet, agent }, { path: { challengeId } }) =>
      exchangeChallenge(wallet, agent.enterprise, challengeId),
  ),

  route(
    'POST /did-authentication/answers',
    {
      summary: 'Answer the challenge of another agent with a DID of this wallet',
      operationId: 'answerChallenge',
      extension: true,
      access: 'tenant',
      scopes: ['holder'],
      body: AnswerChallenge,
      reply: [200, AuthenticationAnswer],
    },
    ({ wallet }, { body }) => answerChallenge(wallet, body),
  ),
] as const
