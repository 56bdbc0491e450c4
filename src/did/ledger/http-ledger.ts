/**
 * A remote ledger: a client of the NeoPRISM HTTP API, served by NeoPRISM or by another agent, whose responses
 * have additional members.
 *
 * Nothing is cached or repeated. The node is trusted about which operations are on the ledger. Its answers
 * must concern the requested operation or DID, and be valid.
 */
import { fromHex, toHex } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { tryParseJson } from '../../foundation/json.ts'
import { compressed } from '../../foundation/crypto/secp256k1.ts'
import type { PublicJwk } from '../../foundation/crypto/keys.ts'
import { decodeSigned } from '../prism/decode.ts'
import { suffixOf } from '../prism/did.ts'
import { masterKeyId } from '../prism/model.ts'
import { encodeOperation, operationHash } from '../prism/operations.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { type Ledger, type LedgerOperation, readOperation } from './ledger.ts'
import { DidList, Refusal, SeenOperation, SubmissionResult, UnseenOperation } from './neoprism.ts'
import {
  createNode,
  type Node,
  type NodeLimits,
  readEntry,
  readMetadata,
  readState,
} from './neoprism-client.ts'

/** A client of the node at `baseUrl` (http or https, without trailing slash). */
export function createHttpLedger(
  baseUrl: string,
  http: Pick<HttpClient, 'exchange'>,
  limits?: NodeLimits,
): Ledger {
  const node = createNode(baseUrl, http, limits)
  // The HTTP client belongs to the caller.
  const close = () => Promise.resolve()

  return {
    location: node.location,
    hidesPending: true,

    async submit(signedOperation) {
      const { operationId } = readOperation(signedOperation)
      const body = { signed_operations: [toHex(signedOperation)] }
      const answer = await node.post('/api/submissions/signed-operations', body, [200, 400, 413, 422])
      if (answer.status !== 200) {
        const { details } = Refusal.safeParse(tryParseJson(answer.text)).data ?? {}
        const reason = details === undefined ? '.' : `: ${details}`
        const refused = `The DID ledger at ${node.location} refused the signed operation (status ${answer.status})${reason}`
        throw new Problem('BadRequest', refused)
      }
      const { tx_id: transactionId, operation_ids } = node.parse(SubmissionResult, answer)
      if (operation_ids.length !== 1 || operation_ids[0] !== operationId)
        throw node.fault('its answer is about another operation')
      return { operationId, transactionId }
    },

    getOperation: (operationId) => getOperation(node, operationId.toLowerCase()),
    getState: (suffix) => readState(node, suffix),
    findByMasterKey: (publicKey) => findByMasterKey(node, publicKey),
    getEntry: (entryId) => readEntry(node, entryId.toLowerCase()),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function getOperation(node: Node, operationId: string): Promise<LedgerOperation | undefined> {
  if (!/^[0-9a-f]{64}$/.test(operationId)) return undefined
  const answer = await node.get(`/api/operations/${operationId}`, [200, 404])
  // NeoPRISM returns an operation only once it is deep enough in the chain.
  const parsed =
    answer.status === 200 ? node.parse(SeenOperation, answer) : node.parse(UnseenOperation, answer)
  if (parsed.operation_id !== undefined && parsed.operation_id !== operationId)
    throw node.fault('its answer is about another operation')
  if ('error' in parsed && parsed.status === undefined) return undefined
  const {
    submitted_at: submittedAt,
    confirms_at: confirmsAt = 'error' in parsed ? undefined : parsed.block_timestamp,
  } = parsed
  const verdict =
    'error' in parsed ? { status: 'pending' as const } : await readVerdict(node, operationId, parsed)
  return {
    operationId,
    ...verdict,
    ...('tx_id' in parsed && parsed.tx_id !== undefined && { transactionId: parsed.tx_id }),
    ...(submittedAt !== undefined && { submittedAt: toInstant(submittedAt) }),
    ...(confirmsAt !== undefined && { confirmsAt: toInstant(confirmsAt) }),
  }
}

type Verdict = Pick<LedgerOperation, 'status' | 'details'>

/**
 * The verdict of an operation. NeoPRISM does not mark invalid operations, so the DID's version decides.
 * Without the operation's bytes it counts as confirmed, as in the Cloud Agent.
 */
async function readVerdict(
  node: Node,
  operationId: string,
  { status, details, signed_operation_data: hex }: SeenOperation,
): Promise<Verdict> {
  if (status !== undefined) return { status, ...(details !== undefined && { details }) }
  if (hex === undefined) return { status: 'confirmed' }
  const read = readSeen(node, hex)
  if (read.operationId !== operationId) throw node.fault('its answer is about another operation')
  // The entry names the last operation only, so that an earlier one counts as confirmed.
  if (read.suffix === undefined || read.event) return { status: 'confirmed' }
  const version = (await readMetadata(node, read.suffix))?.versionId
  const hash = operationHash(decodeSigned(read.signedOperation).operation)
  // The hash of a create operation determines its DID, so any published state confirms it.
  const counted = hash === read.suffix ? version !== undefined : version === hash
  return counted
    ? { status: 'confirmed' }
    : { status: 'rejected', details: 'the operation did not change the DID' }
}

function readSeen(node: Node, hex: string) {
  try {
    return readOperation(fromHex(hex))
  } catch (error) {
    throw node.fault('its answer is about another operation', error)
  }
}

/** Finds DIDs by master key. For NeoPRISM, which cannot, only DIDs that consist of the master key. */
async function findByMasterKey(node: Node, publicKey: PublicJwk): Promise<string[]> {
  const answer = await node.get(`/api/dids?masterKey=${toHex(compressed(publicKey))}`, [200, 404])
  if (answer.status === 200) return node.parse(DidList, answer).dids.map(suffixOf)
  const found: { suffix: string; created: string }[] = []
  for (const id of ['master', masterKeyId]) {
    const publicKeys = [{ id, usage: 'master' as const, publicKey }]
    const suffix = operationHash(
      encodeOperation({ operation: 'create', publicKeys, services: [], contexts: [] }),
    )
    const metadata = await readMetadata(node, suffix)
    if (metadata) found.push({ suffix, created: metadata.created ?? '' })
  }
  return found
    .toSorted((a, b) => Date.parse(a.created) - Date.parse(b.created) || 0)
    .map(({ suffix }) => suffix)
}

/** ISO 8601 in UTC with milliseconds. */
function toInstant(text: string): string {
  return new Date(text).toISOString()
}
