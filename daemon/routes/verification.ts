/** `/verification`: verification of credentials and schemas, and the verification policies of the wallet. */
import * as z from 'zod'
import { statusChecks } from '../../src/wallet/credential-status/check.ts'
import {
  SchemaVerification,
  SchemaVerificationResult,
  verifySchema,
} from '../../src/credentials/schemas/verify.ts'
import {
  createPolicy,
  deletePolicy,
  getPolicy,
  listPolicies,
  updatePolicy,
  VerificationPolicy,
  VerificationPolicyInput,
} from '../../src/wallet/verification/policies.ts'
import { VcVerificationRequests, VcVerificationResponse } from '../../src/wallet/verification/model.ts'
import { createChainVerifier } from '../../src/wallet/trust-anchors/verify-chain.ts'
import { verifyCredentials } from '../../src/wallet/verification/verify.ts'
import { allScopes, Uuid } from '../../src/wallet/model.ts'
import { Page, PagingWithAnyOrder, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const PolicyPage = Page('VerificationPolicyPage', VerificationPolicy, 'VerificationPolicyResponsePage')
const path = { id: Uuid }

/** An integer in a query, which is text in a URL. */
const Nonce = z.preprocess(
  (text) => (typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : text),
  z.int32().min(0),
) as unknown as z.ZodInt32

export default [
  route(
    'POST /verification/credential',
    {
      summary: 'Verify credentials',
      operationId: 'verify',
      access: 'tenant',
      scopes: allScopes,
      body: VcVerificationRequests,
      reply: [200, z.array(VcVerificationResponse)],
    },
    ({ wallet, agent: { env } }, { body }) => {
      const keys = { resolve: env.resolver.document, verifyChain: createChainVerifier(wallet) }
      const { checkStatus } = statusChecks(env, 'required', keys.verifyChain)
      return verifyCredentials(
        body,
        { ...keys, getSchema: (url) => env.getSchema(url), checkStatus },
        Date.now(),
      )
    },
  ),

  route(
    'POST /verification/schema',
    {
      summary: 'Verify a credential schema, its proof of authorship, and claims against it',
      operationId: 'verifySchema',
      extension: true,
      access: 'tenant',
      scopes: allScopes,
      body: SchemaVerification,
      reply: [200, SchemaVerificationResult],
    },
    ({ agent: { env } }, { body }) =>
      verifySchema(body, { readSchema: (url) => env.readSchema(url), resolve: env.resolver.document }),
  ),

  route(
    'POST /verification/policies',
    {
      summary: 'Create a verification policy',
      operationId: 'createVerificationPolicy',
      access: 'tenant',
      scopes: ['verifier'],
      body: VerificationPolicyInput,
      reply: [201, VerificationPolicy],
    },
    ({ wallet }, { body }) => wallet.transaction((tx) => createPolicy(tx, body)),
  ),

  route(
    'GET /verification/policies',
    {
      summary: 'List the verification policies',
      operationId: 'lookupVerificationPoliciesByQuery',
      access: 'tenant',
      query: PagingWithAnyOrder.extend({ name: z.string().optional() }),
      reply: [200, PolicyPage],
    },
    async ({ wallet }, { query, target }) => {
      const { policies, total } = await listPolicies(wallet.db, query)
      const page = toPage('VerificationPolicyPage', { ...query, target, total }, policies)
      return { ...page, pageOf: page.pageOf.replace(/\?.*$/s, '') }
    },
  ),

  route(
    'GET /verification/policies/{id}',
    {
      summary: 'Read a verification policy',
      operationId: 'getVerificationPolicyById',
      access: 'tenant',
      path,
      reply: [200, VerificationPolicy],
    },
    ({ wallet }, { path: { id } }) => getPolicy(wallet.db, id),
  ),

  route(
    'PUT /verification/policies/{id}',
    {
      summary: 'Change a verification policy, if it was not changed since it was read',
      operationId: 'updateVerificationPolicy',
      access: 'tenant',
      scopes: ['verifier'],
      path,
      query: z.object({ nonce: Nonce.describe('The nonce of the policy when it was read.') }),
      body: VerificationPolicyInput,
      reply: [200, VerificationPolicy],
    },
    ({ wallet }, { path: { id }, query: { nonce }, body }) =>
      wallet.transaction((tx) => updatePolicy(tx, id, nonce, body)),
  ),

  route(
    'DELETE /verification/policies/{id}',
    {
      summary: 'Delete a verification policy',
      operationId: 'deleteVerificationPolicyById',
      access: 'tenant',
      scopes: ['verifier'],
      path,
      reply: [200, null],
    },
    ({ wallet }, { path: { id } }) => wallet.transaction((tx) => deletePolicy(tx, id)),
  ),
] as const
