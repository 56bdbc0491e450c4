/**
 * A ledger that is elsewhere: a client of NeoPRISM's HTTP API, as the real agent is one (`NODE_BACKEND=neoprism`), or of the same
 * API of another agent, which tells more.
 *
 * Nothing is kept and nothing is sent twice: whoever asks again, asks the node again. The node is believed about which operations
 * are on the chain; what it says must be about what was asked, and be possible.
 */
import { fromHex, toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { tryParseJson } from '../base/json.ts'
import { compressed } from '../crypto/secp256k1.ts'
import type { PublicJwk } from '../crypto/keys.ts'
import { decodeSigned } from '../did/prism/decode.ts'
import { masterKeyId } from '../did/prism/model.ts'
import { encodeOperation, operationHash } from '../did/prism/operations.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import type { Ledger, LedgerOperation } from './ledger.ts'
import { DidList, Refusal, SeenOperation, SubmissionResult, UnseenOperation } from './neoprism.ts'
import { createNode, type Node, type NodeLimits } from './node.ts'
import { readMetadata, readState } from './node-state.ts'
import { readOperation } from './signed-operation.ts'

/** A client of the node at `baseUrl`, http or https without a slash at its end. Nothing is asked until somebody asks. */
export function createHttpLedger(
  baseUrl: string,
  http: Pick<HttpClient, 'exchange'>,
  limits?: NodeLimits,
): Ledger {
  const node = createNode(baseUrl, http, limits)
  // The connections are not the ledger's own.
  const close = () => Promise.resolve()

  return {
    location: node.location,

    async submit(signedOperation) {
      const { operationId } = readOperation(signedOperation)
      const body = { signed_operations: [toHex(signedOperation)] }
      const answer = await node.post('/api/submissions/signed-operations', body, [200, 400, 413, 422])
      if (answer.status !== 200) {
        const { details } = Refusal.safeParse(tryParseJson(answer.text)).data ?? {}
        const reason = details === undefined ? '.' : `: ${details}`
        const refused = `The DID ledger at ${node.location} does not take the signed operation (status ${answer.status})${reason}`
        throw new Problem('BadRequest', refused)
      }
      const { tx_id: transactionId, operation_ids } = node.parse(SubmissionResult, answer)
      if (operation_ids.length !== 1 || operation_ids[0] !== operationId)
        throw node.fault('it answered about another operation')
      return { operationId, transactionId }
    },

    getOperation: (operationId) => getOperation(node, operationId.toLowerCase()),
    getState: (suffix) => readState(node, suffix),
    findByMasterKey: (publicKey) => findByMasterKey(node, publicKey),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function getOperation(node: Node, operationId: string): Promise<LedgerOperation | undefined> {
  if (!/^[0-9a-f]{64}$/.test(operationId)) return undefined
  const answer = await node.get(`/api/operations/${operationId}`, [200, 404])
  // NeoPRISM knows an operation once it is deep enough in the chain, and not before.
  const told = answer.status === 200 ? node.parse(SeenOperation, answer) : node.parse(UnseenOperation, answer)
  if (told.operation_id !== undefined && told.operation_id !== operationId)
    throw node.fault('it answered about another operation')
  if ('error' in told && told.status === undefined) return undefined
  const {
    submitted_at: submittedAt,
    confirms_at: confirmsAt = 'error' in told ? undefined : told.block_timestamp,
  } = told
  const verdict =
    'error' in told ? { status: 'pending' as const } : await readVerdict(node, operationId, told)
  return {
    operationId,
    ...verdict,
    ...(submittedAt !== undefined && { submittedAt: toInstant(submittedAt) }),
    ...(confirmsAt !== undefined && { confirmsAt: toInstant(confirmsAt) }),
  }
}

type Verdict = Pick<LedgerOperation, 'status' | 'details'>

/**
 * NeoPRISM shows an operation that broke a rule like one that did not; whether it counted shows in the DID. Without the operation's
 * bytes it is taken as the real agent takes it.
 */
async function readVerdict(
  node: Node,
  operationId: string,
  { status, details, signed_operation_data: hex }: SeenOperation,
): Promise<Verdict> {
  if (status !== undefined) return { status, ...(details !== undefined && { details }) }
  if (hex === undefined) return { status: 'confirmed' }
  const read = readSeen(node, hex)
  if (read.operationId !== operationId) throw node.fault('it answered about another operation')
  const version = (await readMetadata(node, read.suffix))?.versionId
  const hash = operationHash(decodeSigned(read.signedOperation).operation)
  // What a create operation makes is in its hash: the DID is what it wants, whoever sent it first.
  const counted = hash === read.suffix ? version !== undefined : version === hash
  return counted ? { status: 'confirmed' } : { status: 'rejected', details: 'the DID did not change by it' }
}

function readSeen(node: Node, hex: string) {
  try {
    return readOperation(fromHex(hex))
  } catch (error) {
    throw node.fault('it answered about another operation', error)
  }
}

/** NeoPRISM cannot look for keys; what can be looked for there is the DIDs that follow from the master key alone (wire.md 11.3, vector 6). */
async function findByMasterKey(node: Node, publicKey: PublicJwk): Promise<string[]> {
  const answer = await node.get(`/api/dids?masterKey=${toHex(compressed(publicKey))}`, [200, 404])
  if (answer.status === 200)
    return node.parse(DidList, answer).dids.map((did) => did.replace('did:prism:', ''))
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

/** In UTC, with milliseconds, as all times of ours are. */
function toInstant(text: string): string {
  return new Date(text).toISOString()
}
