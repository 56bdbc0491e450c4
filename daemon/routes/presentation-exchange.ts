/**
 * `/presentation-exchange`: presentation definitions, and the credentials that satisfy them (DIF Presentation
 * Exchange).
 */
import {
  CreatePresentationDefinition,
  PresentationDefinition,
} from '../../src/wallet/verification/presentation-definition.ts'
import {
  createDefinition,
  evaluateFor,
  Evaluation,
  EvaluationRequest,
  getDefinition,
  listDefinitions,
} from '../../src/wallet/verification/presentation-definitions.ts'
import { allScopes, Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const DefinitionPage = Page(
  'PresentationDefinitionPage',
  PresentationDefinition,
  'PresentationDefinitionPage',
)
const path = { id: Uuid }

export default [
  route(
    'POST /presentation-exchange/presentation-definitions',
    {
      summary: 'Create a presentation definition',
      operationId: 'createPresentationDefinition',
      access: 'tenant',
      scopes: ['verifier'],
      body: CreatePresentationDefinition,
      sharesFile: true,
      reply: [201, PresentationDefinition],
    },
    ({ wallet, agent }, { body }) => createDefinition(agent.db, wallet.id, body),
  ),

  route(
    'GET /presentation-exchange/presentation-definitions',
    {
      summary: 'List the presentation definitions of the wallet',
      operationId: 'listPresentationDefinition',
      access: 'tenant',
      query: Paging,
      reply: [200, DefinitionPage],
    },
    async ({ wallet, agent }, { query, target }) => {
      const { definitions, total } = await listDefinitions(agent.db, wallet.id, query)
      return toPage('PresentationDefinitionPage', { ...query, target, total }, definitions)
    },
  ),

  route(
    'GET /presentation-exchange/presentation-definitions/{id}',
    {
      summary: 'Read a presentation definition',
      operationId: 'getPresentationDefinition',
      access: 'public',
      path,
      reply: [200, PresentationDefinition],
    },
    ({ agent }, { path: { id } }) => getDefinition(agent.db, id),
  ),

  route(
    'POST /presentation-exchange/presentation-definitions/{id}/evaluations',
    {
      summary: 'Find the credentials that satisfy a presentation definition',
      operationId: 'evaluatePresentationDefinition',
      extension: true,
      access: 'tenant',
      scopes: allScopes,
      path,
      body: EvaluationRequest,
      reply: [200, Evaluation],
    },
    async ({ wallet, agent }, { path: { id }, body }) =>
      evaluateFor(wallet.db, await getDefinition(agent.db, id), body),
  ),
] as const
