/** `/dids`: resolves any DID, with the media types of the HTTP binding of W3C DID Resolution. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { isTemporary } from '../../src/foundation/problem.ts'
import { DidDocument } from '../../src/did/document.ts'
import { factsOf } from '../../src/definitions/did-names.ts'
import {
  DidDocumentMetadata,
  DidResolutionMetadata,
  ResolutionError,
  type ResolutionResult,
} from '../../src/did/resolution.ts'
import { route } from '../http/route.ts'

/** Media types of the whole result and of the document alone. The first of each is that of the Cloud Agent. */
const results = [
  'application/ld+json; profile=https://w3id.org/did-resolution',
  'application/did-resolution',
  'application/json',
] as const
const documents = ['application/did+ld+json', 'application/did+json', 'application/did'] as const
const media = [...results, ...documents] as const

const supported = `The Accept header takes none of ${media.join(', ')}.`

const ledgerAway = 'The ledger that knows the DID cannot be asked now. Try again later.'

/** The HTTP status of a result without a document. */
const statuses = {
  invalidDid: 400,
  notFound: 404,
  representationNotSupported: 406,
  deactivated: 410,
  internalError: 500,
  methodNotSupported: 501,
} as const

/** A resolution result; without a document it has only the reason. */
type Outcome = Omit<ResolutionResult, 'didResolutionMetadata'> & {
  didResolutionMetadata: {
    contentType?: string | undefined
    error?: keyof typeof statuses | undefined
    message?: string | undefined
  }
}

const DidResolutionResponse = z
  .looseObject({
    '@context': z.string(),
    didDocument: DidDocument.optional(),
    didDocumentMetadata: DidDocumentMetadata,
    didResolutionMetadata: DidResolutionMetadata.extend({
      error: z.enum([...ResolutionError.options, 'internalError']).optional(),
    }),
  })
  .meta({ id: 'DIDResolutionResponse' })

const ofEach = <const Name extends string, Type>(names: readonly Name[], type: Type) =>
  Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>

export default [
  route(
    'GET /dids/{didRef}',
    {
      summary: 'Resolve a DID',
      operationId: 'getDID',
      access: 'public',
      perAddress: 'DID_RESOLUTIONS_PER_MINUTE',
      path: { didRef: z.string() },
      media,
      bodies: ofEach(documents, DidDocument),
      failures: {
        statuses: Object.values(statuses),
        bodies: {
          ...ofEach(results, DidResolutionResponse),
          ...ofEach(documents, z.string().describe('The reason.')),
        },
      },
      reply: [200, DidResolutionResponse],
    },
    async ({ agent }, { path: { didRef }, target, accepts, log }) => {
      const type = accepts(media) as (typeof media)[number] | undefined
      const answer =
        type === undefined
          ? failed('representationNotSupported', supported)
          : await resolve({ env: agent.env, log }, toDid(didRef, target))
      const { error, message = '' } = answer.didResolutionMetadata
      const status = error === undefined ? 200 : statuses[error]
      if (type !== undefined && isDocument(type)) return { status, type, body: answer.didDocument ?? message }
      return {
        status,
        type: type ?? results[0],
        body: { '@context': 'https://w3id.org/did-resolution/v1', ...toBody(answer) },
      }
    },
  ),
] as const

/**
 * The DID in a path. A correctly encoded path has `%253A` for the `%3A` of a DID. A path with unencoded
 * colons contains the DID as it is: decoding it would turn the port of `did:web:localhost%3A3000` into a
 * path.
 */
function toDid(decoded: string, target: string): string {
  const raw = /^[^?]*\/dids\/(did:[^/?]*)/.exec(target)?.[1]
  return raw !== undefined && raw.includes('%') && !raw.includes('%25') ? raw : decoded
}

async function resolve({ env, log }: Pick<Agent, 'env' | 'log'>, did: string): Promise<Outcome> {
  try {
    return await env.resolver.resolve(did)
  } catch (error) {
    // Do not reveal the URL of the operator's ledger.
    if (isTemporary(error))
      return failed('internalError', factsOf(did)?.kind === 'ledger' ? ledgerAway : error.message)
    log.error({ err: error }, 'a DID could not be resolved')
    return failed('internalError', 'The agent failed in a way that it did not expect. Its log says more.')
  }
}

function failed(error: keyof typeof statuses, message: string): Outcome {
  return { didDocumentMetadata: {}, didResolutionMetadata: { error, message } }
}

function isDocument(type: string): type is (typeof documents)[number] {
  return documents.some((name) => name === type)
}

function toBody({ didDocument, didDocumentMetadata, didResolutionMetadata }: Outcome): object {
  return { ...(didDocument && { didDocument }), didDocumentMetadata, didResolutionMetadata }
}
