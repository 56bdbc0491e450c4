/** `/web`: the documents of this agent's did:web DIDs. */
import * as z from 'zod'
import { Problem } from '../../src/foundation/problem.ts'
import { findWebDocument, toWebDid } from '../../src/wallet/did-registrar/web.ts'
import { DidDocument } from '../../src/did/document.ts'
import { route } from '../http/route.ts'

export default [
  route(
    'GET /web/{name}/did.json',
    {
      summary: 'Read the document of a did:web',
      operationId: 'getWebDidDocument',
      extension: true,
      access: 'public',
      path: { name: z.string().max(64) },
      reply: [200, DidDocument],
    },
    async ({ agent }, { path: { name } }) => {
      const did = toWebDid(agent.env.urls.rest, name)
      const document = await findWebDocument(agent.db, agent.wallets, did)
      if (!document) throw new Problem('NotFound', `This agent has no DID ${did}.`)
      return document
    },
  ),
] as const
