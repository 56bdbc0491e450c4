/** `/dids` (api.md 4.5): resolution of any DID, for anybody. */
import { z } from 'zod'
import type { ResolutionResult } from '../../src/did/resolution.ts'
import { route } from '../route.ts'

const result = 'application/ld+json; profile=https://w3id.org/did-resolution' as const
const document = 'application/did+ld+json' as const

/** The status of an answer without a document (api.md 4.5). */
const statuses = { invalidDid: 400, notFound: 404, representationNotSupported: 406, deactivated: 410, methodNotSupported: 501 } as const

const DidResolutionResponse = z.looseObject({}).meta({ id: 'DIDResolutionResponse' })

export default [
  route(
    'GET /dids/{didRef}',
    {
      summary: 'Resolve a DID',
      access: 'public',
      path: { didRef: z.string() },
      media: [result, document],
      reply: [200, DidResolutionResponse],
    },
    async ({ agent }, { path: { didRef }, accept }) => {
      const answer = await agent.env.resolver.resolve(didRef)
      const { error } = answer.didResolutionMetadata
      const status = error === undefined ? 200 : statuses[error]
      if (!wantsDocument(accept))
        return { status, type: result, body: { '@context': 'https://w3id.org/did-resolution/v1', ...toBody(answer) } }
      return { status, type: document, body: answer.didDocument ?? answer.didResolutionMetadata.message ?? '' }
    },
  ),
] as const

/** True when the bare document is asked for, and the whole result is not. */
function wantsDocument(accept: string): boolean {
  return accept.includes(document) && !accept.includes('did-resolution')
}

function toBody({ didDocument, didDocumentMetadata, didResolutionMetadata }: ResolutionResult): object {
  return { ...(didDocument && { didDocument }), didDocumentMetadata, didResolutionMetadata }
}
