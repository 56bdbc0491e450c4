/** `/trust-anchors`: the authorities and issuers that the wallet trusts (extension). */
import { addAnchor, getAnchor, listAnchors, removeAnchor } from '../../src/wallet/trust-anchors/anchors.ts'
import { TrustAnchor, TrustAnchorInput } from '../../src/wallet/trust-anchors/model.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const AnchorPage = Page('TrustAnchorPage', TrustAnchor, 'TrustAnchorPage')
const path = { id: Uuid }

export default [
  route(
    'POST /trust-anchors',
    {
      summary: 'Trust an authority or an issuer',
      operationId: 'addTrustAnchor',
      extension: true,
      access: 'tenant',
      scopes: ['holder', 'verifier'],
      body: TrustAnchorInput,
      reply: [201, TrustAnchor],
    },
    ({ wallet }, { body }) => addAnchor(wallet, body),
  ),

  route(
    'GET /trust-anchors',
    {
      summary: 'List the trust anchors',
      operationId: 'listTrustAnchors',
      extension: true,
      access: 'tenant',
      query: Paging,
      reply: [200, AnchorPage],
    },
    async ({ wallet }, { query, target }) => {
      const { anchors, total } = await listAnchors(wallet.db, query)
      return toPage('TrustAnchorPage', { ...query, target, total }, anchors)
    },
  ),

  route(
    'GET /trust-anchors/{id}',
    {
      summary: 'Read a trust anchor',
      operationId: 'getTrustAnchor',
      extension: true,
      access: 'tenant',
      path,
      reply: [200, TrustAnchor],
    },
    ({ wallet }, { path: { id } }) => getAnchor(wallet.db, id),
  ),

  route(
    'DELETE /trust-anchors/{id}',
    {
      summary: 'Trust an authority or an issuer no longer',
      operationId: 'removeTrustAnchor',
      extension: true,
      access: 'tenant',
      scopes: ['holder', 'verifier'],
      path,
      reply: [200, null],
    },
    ({ wallet }, { path: { id } }) => wallet.transaction((tx) => removeAnchor(tx, id)),
  ),
] as const
