/**
 * `/api`: serves the embedded ledger to other agents with the HTTP API of a NeoPRISM node. Agents with
 * another ledger do not serve these endpoints.
 */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { findOpening } from '../../src/foundation/net/reach.ts'
import { dataForNode, didMedia, type DidMedia, resolveForNode } from '../../src/did/ledger/did-server.ts'
import type { LedgerServer } from '../../src/did/ledger/ledger-server.ts'
import {
  DidList,
  EntryMetadata,
  IndexerStats,
  MasterKey,
  ObjectSubmission,
  OperationDetails,
  SignedOperationsSubmission,
  SubmissionResult,
  TransactionDetails,
} from '../../src/did/ledger/neoprism.ts'
import { type Answer, route } from '../http/route.ts'
import { version } from '../http/version.ts'

const json = 'application/json' as const
const text = 'text/plain; charset=utf-8' as const
const bytes = 'application/octet-stream' as const

/** Identifiers are not validated: an invalid one is not found. */
const Id = z.string().max(100)

export default [
  route(
    'POST /api/submissions/signed-operations',
    {
      summary: 'Submit signed DID operations to the ledger',
      operationId: 'submitSignedOperations',
      access: 'public',
      body: SignedOperationsSubmission,
      media: [json],
      reply: [200, SubmissionResult],
    },
    ({ agent }, { body, address }) =>
      answer(agent, (server) => server.submit(address, body.signed_operations)),
  ),

  route(
    'POST /api/submissions/objects',
    {
      summary: 'Submit the DID operations of a PRISM object to the ledger',
      operationId: 'submitPrismObject',
      access: 'public',
      body: ObjectSubmission,
      media: [json],
      reply: [200, SubmissionResult],
    },
    ({ agent }, { body, address }) => answer(agent, (server) => server.submitObject(address, body.object)),
  ),

  route(
    'GET /api/operations/{operationId}',
    {
      summary: 'Read a DID operation that the ledger has confirmed or rejected',
      operationId: 'getLedgerOperation',
      access: 'public',
      path: { operationId: Id },
      media: [json],
      reply: [200, OperationDetails],
    },
    ({ agent }, { path }) => answer(agent, (server) => server.getOperation(path.operationId)),
  ),

  route(
    'GET /api/transactions/{transactionId}',
    {
      summary: 'Read the DID operations that were submitted together',
      operationId: 'getLedgerTransaction',
      access: 'public',
      path: { transactionId: Id },
      media: [json],
      reply: [200, TransactionDetails],
    },
    ({ agent }, { path }) => answer(agent, (server) => server.getTransaction(path.transactionId)),
  ),

  route(
    'GET /api/dids',
    {
      summary: 'Find published DIDs by a master key of their create operation',
      operationId: 'findLedgerDids',
      extension: true,
      access: 'public',
      query: z.object({ masterKey: MasterKey }),
      media: [json],
      reply: [200, DidList],
    },
    ({ agent }, { query }) => answer(agent, (server) => server.findDids(query.masterKey)),
  ),

  route(
    'GET /api/dids/{did}',
    {
      summary: 'Resolve a did:prism',
      operationId: 'getLedgerDid',
      access: 'public',
      path: { did: z.string() },
      media: [...didMedia],
      reply: [200, z.looseObject({})],
    },
    ({ agent }, { path, accepts }) =>
      resolveForNode(serverOf(agent).ledger, path.did, accepts(didMedia) as DidMedia | undefined),
  ),

  route(
    'GET /api/dids/{did}/protobuf',
    {
      summary: 'Read the DIDData of a did:prism, in hexadecimal',
      operationId: 'getLedgerDidProtobuf',
      access: 'public',
      path: { did: z.string() },
      media: [text, json],
      reply: [200, z.string()],
    },
    ({ agent }, { path }) => answer(agent, (server) => dataForNode(server.ledger, path.did), text),
  ),

  route(
    'GET /api/vdr-data/{entryHash}',
    {
      summary: 'Read the content of a storage entry',
      operationId: 'getLedgerEntryContent',
      access: 'public',
      path: { entryHash: Id },
      media: [bytes, json],
      reply: [200, z.string().meta({ format: 'binary' })],
    },
    ({ agent }, { path }) => answer(agent, (server) => server.getContent(path.entryHash), bytes),
  ),

  route(
    'GET /api/vdr-data/{entryHash}/metadata',
    {
      summary: 'Read the last event of a storage entry',
      operationId: 'getLedgerEntryMetadata',
      access: 'public',
      path: { entryHash: Id },
      media: [json],
      reply: [200, EntryMetadata],
    },
    ({ agent }, { path }) => answer(agent, (server) => server.getEntry(path.entryHash)),
  ),

  route(
    'GET /api/indexer-stats',
    {
      summary: 'Read the progress of the ledger',
      operationId: 'getLedgerStatistics',
      access: 'public',
      media: [json],
      reply: [200, IndexerStats],
    },
    ({ agent }) => answer(agent, (server) => server.getStats()),
  ),

  route(
    'GET /api/_system/health',
    {
      summary: 'Read the health of the ledger',
      operationId: 'getLedgerHealth',
      access: 'public',
      media: [text, json],
      reply: [200, z.string()],
    },
    ({ agent }) => answer(agent, () => Promise.resolve('Ok'), text),
  ),

  route(
    'GET /api/_system/metadata',
    {
      summary: 'Read the version of the ledger’s server',
      operationId: 'getLedgerMetadata',
      access: 'public',
      media: [json],
      reply: [200, z.object({ version: z.string(), mode: z.literal('Standalone') })],
    },
    ({ agent }) => answer(agent, () => Promise.resolve({ version, mode: 'Standalone' })),
  ),
] as const

function serverOf({ ledgerServer, config }: Agent): LedgerServer {
  if (ledgerServer) return ledgerServer
  throw new Problem(
    'error:ResourcePathNotFound',
    `This agent serves no DID ledger: ${reasonNotServed(config)}.`,
  )
}

function reasonNotServed(config: Agent['config']): string {
  if (config.VDR_SERVE === false) return 'VDR_SERVE is false'
  const opening = config.VDR_SERVE === undefined ? findOpening(config) : undefined
  return opening === undefined
    ? 'its own ledger is elsewhere; ask there'
    : `${opening}, and VDR_SERVE is not true`
}

/** The prefixes of a NeoPRISM node's error messages. */
const words: Readonly<Record<number, string>> = {
  400: 'bad request',
  404: 'not found',
  429: 'too many requests',
  507: 'insufficient storage',
  501: 'service not available',
}

/**
 * Replies with the result of `work`, or with an error in the form of a NeoPRISM node, also for an operation
 * that is not confirmed yet.
 */
async function answer<Body extends string | object, Media extends string = typeof json>(
  agent: Agent,
  work: (server: LedgerServer) => Promise<Body>,
  type: Media = json as unknown as Media,
) {
  const server = serverOf(agent)
  try {
    const body = await work(server)
    const isPending = typeof body === 'object' && 'error' in body
    return { ...(isPending && { status: 404 }), type, body } as Answer<Media | typeof json>
  } catch (error) {
    if (!(error instanceof Problem) || words[error.status] === undefined) throw error
    const { status, message, retryAfter } = error
    const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
    const body = { error: `${words[status]}: ${message}`, ...(status === 400 && { details: message }) }
    return { status, type: json, body, headers } as Answer<Media | typeof json>
  }
}
