/** A client of the NeoPRISM HTTP API: requests, and the state of a DID. */
import type * as z from 'zod'
import { fromBase64, fromHex } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { tryParseJson } from '../../foundation/json.ts'
import { decodeDidData, type DidData } from '../prism/did-data.ts'
import { suffixOf, toShortForm } from '../prism/did.ts'
import { InvalidOperation } from '../prism/model.ts'
import type { DidState } from '../prism/state.ts'
import type { Exchanged, HttpClient } from '../../foundation/net/http-client.ts'
import type { StorageEntry } from './ledger.ts'
import { ApiError, SeenEntry, SeenResolution } from './neoprism.ts'

/** Timeouts. Submitting to a blockchain takes longer than reading. */
export type NodeLimits = { readMs?: number; submitMs?: number }

export type Node = {
  /** The base URL, for people. */
  readonly location: string
  /** @throws {Problem} for a status that is not in `statuses`. */
  get(path: string, statuses: readonly number[], accept?: string, encoding?: 'base64'): Promise<Exchanged>
  post(path: string, body: object, statuses: readonly number[]): Promise<Exchanged>
  /** Parses a JSON response. @throws {Problem} when it does not match the type. */
  parse<Type extends z.ZodType>(type: Type, answer: Exchanged): z.output<Type>
  /** A 503 with a reason, never with text of the response, which may be another server's secret. */
  fault(reason: string, cause?: unknown): Problem
}

/** Limit on a response: the longest state in hexadecimal, and the longest list of DIDs. */
const maxBytes = 2_500_000

/** `baseUrl` has no trailing slash. */
export function createNode(
  baseUrl: string,
  http: Pick<HttpClient, 'exchange'>,
  limits: NodeLimits = {},
): Node {
  const { readMs = 10_000, submitMs = 30_000 } = limits
  const location = baseUrl
  const fault = (reason: string, cause?: unknown) =>
    new Problem(
      'error:ServiceUnavailable',
      `The DID ledger at ${location} cannot be used: ${reason}. Try again later, or check VDR_URL and the node behind it.`,
      { cause },
    )

  async function exchange(
    path: string,
    request: Parameters<HttpClient['exchange']>[1],
    statuses: readonly number[],
  ): Promise<Exchanged> {
    const answer = await http
      .exchange(baseUrl + path, { purpose: 'ledger', ...request })
      .catch((error: unknown) => {
        throw fault(reasonOf(error), error)
      })
    if (!statuses.includes(answer.status)) throw fault(`it answered with status ${answer.status}`)
    return answer
  }

  return {
    location,
    fault,
    get: (path, statuses, accept = 'application/json', encoding) =>
      exchange(
        path,
        { method: 'GET', headers: { accept }, timeoutMs: readMs, maxBytes, ...(encoding && { encoding }) },
        statuses,
      ),
    post: (path, body, statuses) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json' }
      return exchange(
        path,
        { method: 'POST', headers, body: JSON.stringify(body), timeoutMs: submitMs, maxBytes },
        statuses,
      )
    },
    parse(type, { text }) {
      const result = type.safeParse(tryParseJson(text))
      if (!result.success) throw fault('its answer is not of the NeoPRISM API')
      return result.data
    },
  }
}

type Metadata = SeenResolution['didDocumentMetadata'] & { versionId: string }

/** How often to start again when a DID changes while it is read. */
const maxAttempts = 5

const notFound = 'https://www.w3.org/ns/did#NOT_FOUND'

/**
 * Reads the state of a DID from two endpoints: the metadata (hash and times), then the keys and services,
 * then the metadata again until it is unchanged, so that both are of one version.
 */
export async function readState(node: Node, suffix: string): Promise<DidState | undefined> {
  let before = await readMetadata(node, suffix)
  for (let left = maxAttempts; before && left > 0; left--) {
    const data = await readData(node, suffix)
    const after = await readMetadata(node, suffix)
    if (data && after?.versionId === before.versionId) return toState(node, data, after)
    before = after
  }
  if (before) throw node.fault('the DID changed each time it was read')
  return undefined
}

/** The metadata of a DID. `undefined` when it is not published. */
export async function readMetadata(node: Node, suffix: string): Promise<Metadata | undefined> {
  const did = toShortForm(suffix)
  const answer = await node.get(`/api/dids/${did}`, [200, 404, 410], 'application/did-resolution')
  const {
    didDocument,
    didDocumentMetadata: metadata,
    didResolutionMetadata,
  } = node.parse(SeenResolution, answer)
  if (answer.status === 404) {
    // A 404 of another server says nothing about the DID.
    if (didResolutionMetadata.error?.type !== notFound)
      throw node.fault('its answer is not of the NeoPRISM API')
    return undefined
  }
  const ids = [didDocument?.id, metadata.canonicalId].filter((id) => id !== undefined)
  if (ids.some((id) => id !== did)) throw node.fault('its answer is about another DID')
  const { versionId } = metadata
  if (versionId === undefined)
    throw node.fault('its answer lacks the version of a DID; old releases of NeoPRISM leave it out')
  return { ...metadata, versionId }
}

/**
 * Reads a storage entry from two endpoints: its last event, then its content, until the event is the same
 * after it.
 */
export async function readEntry(node: Node, entryId: string): Promise<StorageEntry | undefined> {
  if (!/^[0-9a-f]{64}$/.test(entryId)) return undefined
  let before = await readLastEvent(node, entryId)
  for (let left = maxAttempts; before && left > 0; left--) {
    const path = `/api/vdr-data/${entryId}`
    const { status, text } = await node.get(path, [200, 404], 'application/octet-stream', 'base64')
    const after = await readLastEvent(node, entryId)
    if (status === 200 && after?.lastHash === before.lastHash) return { ...after, content: fromBase64(text) }
    before = after
  }
  if (before) throw node.fault('the entry changed each time it was read')
  return undefined
}

async function readLastEvent(
  node: Node,
  entryId: string,
): Promise<Omit<StorageEntry, 'content'> | undefined> {
  const answer = await node.get(`/api/vdr-data/${entryId}/metadata`, [200, 404])
  if (answer.status === 404) {
    // A 404 of another server says nothing about the entry.
    node.parse(ApiError, answer)
    return undefined
  }
  const { entry_hash, latest_event_hash: lastHash, status, did } = node.parse(SeenEntry, answer)
  if (entry_hash !== entryId) throw node.fault('its answer is about another entry')
  if (status !== 'active') return undefined
  const suffix = did === undefined ? undefined : suffixOf(did)
  return { entryId, lastHash, ...(suffix !== undefined && { suffix }) }
}

async function readData(node: Node, suffix: string): Promise<DidData | undefined> {
  const { status, text } = await node.get(
    `/api/dids/${toShortForm(suffix)}/protobuf`,
    [200, 404],
    'text/plain',
  )
  if (status === 404) return undefined
  const data = decode(node, text.trim())
  if (data.suffix !== suffix) throw node.fault('its answer is about another DID')
  return data
}

function decode(node: Node, hex: string): DidData {
  try {
    return decodeDidData(fromHex(hex))
  } catch (error) {
    if (error instanceof InvalidOperation || error instanceof TypeError)
      throw node.fault('its answer is not a valid state of a DID', error)
    throw error
  }
}

function toState(
  node: Node,
  data: DidData,
  { versionId, deactivated = false, created, updated }: Metadata,
): DidState {
  const hasMasterKey = data.publicKeys.some(({ usage }) => usage === 'master')
  if (deactivated ? data.publicKeys.length > 0 : !hasMasterKey)
    throw node.fault('its answer is not a valid state of a DID')
  return {
    ...data,
    lastOperationHash: versionId,
    deactivated,
    ...(created !== undefined && { createdAt: new Date(created).toISOString() }),
    ...(updated !== undefined && { updatedAt: new Date(updated).toISOString() }),
  }
}
