/** `/did-authentication` (service §4.7, api.md 8): authentication challenges, and their public links. `/enterprise/…` leads here too. */
import { z } from 'zod'
import {
  Challenge,
  ChallengeState,
  ChallengeSubmission,
  createChallenge,
  deleteChallenge,
  getChallenge,
  listChallenges,
  showChallenge,
  submitResponse,
  toChallengeState,
  walletOfChallenge,
} from '../../src/enterprise/authentication.ts'
import { exchangeChallenge, Token } from '../../src/enterprise/token.ts'
import { CreateSession, OperationResult } from '../../src/enterprise/model.ts'
import { answerChallenge, AnswerChallenge, AuthenticationAnswer } from '../../src/enterprise/respond.ts'
import { openFor } from '../../src/enterprise/session.ts'
import { Paging } from '../http/paging.ts'
import { challengePage } from '../pages/challenge.ts'
import { answerInForm, pageMedia } from '../pages/page.ts'
import { route } from '../http/route.ts'
import { Collection, toCollection, Wait, watch } from './_sessions.ts'

const path = { challengeId: z.string() }
const suite = 'enterprise'

export default [
  route(
    'POST /did-authentication/challenges',
    {
      summary: 'Create an authentication challenge',
      operationId: 'createChallenge',
      access: 'tenant',
      scopes: ['verifier'],
      suite,
      body: CreateSession,
      reply: [200, ChallengeState],
    },
    async ({ wallet, agent }, { body }) =>
      toChallengeState(await createChallenge(wallet, agent.enterprise, body), agent.env.urls.rest),
  ),

  route(
    'GET /did-authentication/challenges',
    {
      summary: 'List the authentication challenges',
      operationId: 'listChallenges',
      access: 'tenant',
      suite,
      query: Paging,
      reply: [200, Collection(ChallengeState, 'AuthenticationChallengeCollection')],
    },
    async ({ wallet, agent }, { query }) => {
      const { rest } = agent.env.urls
      const { rows, total } = await listChallenges(wallet.db, query)
      return toCollection(
        `${rest}/did-authentication/challenges`,
        { ...query, total },
        rows.map((row) => toChallengeState(row, rest)),
      )
    },
  ),

  route(
    'GET /did-authentication/challenges/{challengeId}',
    {
      summary: 'Read an authentication challenge; `wait` until it is answered, for some seconds',
      operationId: 'getChallenge',
      access: 'tenant',
      suite,
      path,
      query: Wait,
      reply: [200, ChallengeState],
    },
    async ({ wallet, agent }, { path: { challengeId: id }, query: { wait }, whenGone }) => {
      const read = () => getChallenge(wallet.db, id)
      return toChallengeState(
        await watch(agent.enterprise, { id, read, seconds: wait, whenGone }),
        agent.env.urls.rest,
      )
    },
  ),

  route(
    'DELETE /did-authentication/challenges/{challengeId}',
    {
      summary: 'Delete an authentication challenge',
      operationId: 'deleteChallenge',
      access: 'tenant',
      scopes: ['verifier'],
      suite,
      path,
      reply: [200, OperationResult],
    },
    ({ wallet, agent }, { path: { challengeId } }) => deleteChallenge(wallet, agent.enterprise, challengeId),
  ),

  route(
    'GET /did-authentication/challenge-submissions/{challengeSubmissionId}',
    {
      summary: 'Read the challenge of a link; as a page in a browser',
      operationId: 'getChallengeSubmission',
      extension: true,
      access: 'public',
      suite,
      path: { challengeSubmissionId: z.string() },
      media: pageMedia,
      reply: [200, Challenge],
    },
    ({ agent }, { path: { challengeSubmissionId: id }, accepts }) =>
      answerInForm(accepts, {
        see: async () => {
          const walletId = await walletOfChallenge(agent.enterprise, id)
          const row = await agent.wallets.use(walletId, ({ db }) => showChallenge(db, id))
          return { row, challenge: toChallengeState(row, agent.env.urls.rest).challenge }
        },
        toJson: ({ challenge }) => challenge,
        toPage: ({ challenge, row }) => challengePage(challenge, { staleAfterMs: openFor(row) }),
      }),
  ),

  route(
    'POST /did-authentication/challenge-submissions/{challengeSubmissionId}',
    {
      summary: 'Answer an authentication challenge with a signature',
      operationId: 'submitChallenge',
      access: 'public',
      suite,
      path: { challengeSubmissionId: z.string() },
      body: ChallengeSubmission,
      anyBody: true,
      reply: [200, OperationResult],
    },
    async ({ agent }, { path: { challengeSubmissionId: id }, body, address }) => {
      await agent.enterprise.admit(address, id)
      const walletId = await walletOfChallenge(agent.enterprise, id)
      return agent.wallets.use(walletId, (wallet) => submitResponse(wallet, agent.enterprise, id, body))
    },
  ),

  route(
    'POST /did-authentication/challenges/{challengeId}/token',
    {
      summary: 'Exchange a successful challenge for a token, once',
      operationId: 'createChallengeToken',
      extension: true,
      access: 'tenant',
      scopes: ['verifier'],
      suite,
      path,
      reply: [200, Token],
    },
    ({ wallet, agent }, { path: { challengeId } }) =>
      exchangeChallenge(wallet, agent.enterprise, challengeId),
  ),

  route(
    'POST /did-authentication/answers',
    {
      summary: 'Answer somebody else’s challenge with a DID of this wallet',
      operationId: 'answerChallenge',
      extension: true,
      access: 'tenant',
      scopes: ['holder'],
      suite,
      body: AnswerChallenge,
      reply: [200, AuthenticationAnswer],
    },
    ({ wallet }, { body }) => answerChallenge(wallet, body),
  ),
] as const
