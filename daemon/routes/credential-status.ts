/** `/credential-status`: the public status lists of the issuers of this agent, and revocation. */
import * as z from 'zod'
import { listMedia, type ListMedia } from '../../src/wallet/credential-status/lists.ts'
import { listNotFound, publishList } from '../../src/wallet/credential-status/publish.ts'
import { revokeCredential } from '../../src/exchange/issuance/issuer.ts'
import { endGrantOf, endRenewalOf } from '../../src/exchange/oid4vci/end-renewal.ts'
import { unlessDeleted } from '../../src/foundation/storage/transferred.ts'
import { route } from '../http/route.ts'

const StatusListCredential = z.looseObject({}).meta({ id: 'StatusListCredential' })

export default [
  route(
    'GET /credential-status/{id}',
    {
      summary: 'Read a status list: StatusList2021 as JSON, a Bitstring or a Token Status List as JWT',
      operationId: 'getCredentialStatusListEndpoint',
      access: 'public',
      path: { id: z.string() },
      media: listMedia,
      reply: [200, StatusListCredential],
    },
    async ({ agent }, { path: { id }, accepts }) => {
      const walletId = await agent.env.tokens.findWalletId('status-list', id)
      if (walletId === undefined) throw listNotFound(id)
      const wanted = (accepts(listMedia) as ListMedia | undefined) ?? listMedia[0]
      const { type, body, etag } = await unlessDeleted(
        agent.wallets.use(walletId, (wallet) => publishList(wallet, id, wanted)),
        () => listNotFound(id),
      )
      // Caches must revalidate the list before each use, so that a revocation takes effect immediately.
      return { type, body, headers: { ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept' } }
    },
  ),

  route(
    'PATCH /credential-status/revoke-credential/{id}',
    {
      summary: 'Revoke the credential of a record',
      operationId: 'patchCredential-statusRevoke-credentialId',
      access: 'tenant',
      scopes: ['issuer'],
      path: { id: z.string() },
      query: z.object({
        renewalOnly: z
          .enum(['true', 'false'])
          .optional()
          .describe(
            '`true` ends the refresh token of the wallet alone: the credential stays valid, and is not issued anew (extension).',
          ),
      }),
      reply: [200, null],
    },
    ({ wallet }, { path: { id }, query }) =>
      query.renewalOnly === 'true' ? endRenewalOf(wallet, id) : revokeCredential(wallet, id, endGrantOf),
  ),
] as const
