/**
 * Serves the embedded ledger with the NeoPRISM HTTP API. `http-ledger.ts` is the client.
 *
 * Every transaction is a block. The block number is the sequence number of its first operation. The slot
 * number is its Unix time in seconds.
 */
import { fromHex, toHex } from '../../foundation/bytes.ts'
import type { Config } from '../../foundation/config/config.ts'
import { createRateLimiter } from '../../foundation/rate-limiter.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { fromPublicBytes } from '../../foundation/crypto/secp256k1.ts'
import { decodeObject } from '../prism/decode.ts'
import { toShortForm } from '../prism/did.ts'
import type { StorageEntry } from './ledger.ts'
import type {
  EntryMetadata,
  IndexerStats,
  OperationDetails,
  PendingOperation,
  SubmissionResult,
  TransactionDetails,
} from './neoprism.ts'
import { maxDids, maxOperations } from './neoprism.ts'
import type { EmbeddedLedger, LedgerEntry } from './sqlite-ledger.ts'

export type LedgerServerLimits = {
  /** Operations per address and minute. */
  submissionsPerMinute: number
  /** Size of the largest operation in bytes. */
  operationBytes: number
  /** Size of the ledger file in bytes from which on operations of other agents are refused. */
  bytes: number
}

export function ledgerLimitsOf(config: Config): LedgerServerLimits {
  return {
    submissionsPerMinute: config.VDR_SUBMISSIONS_PER_MINUTE,
    operationBytes: config.VDR_OPERATION_BYTES,
    bytes: config.VDR_BYTES,
  }
}

export type LedgerServer = {
  readonly ledger: EmbeddedLedger
  /** Submits operations (hexadecimal) of another agent, all or none. @throws {Problem} 400, 429, 507 */
  submit(address: string, signedOperations: readonly string[]): Promise<SubmissionResult>
  /** `submit` for the operations of an `AtalaObject`. */
  submitObject(address: string, object: string): Promise<SubmissionResult>
  /** @throws {Problem} `NotFound` */
  getOperation(operationId: string): Promise<OperationDetails | PendingOperation>
  /** @throws {Problem} `NotFound` */
  getTransaction(transactionId: string): Promise<TransactionDetails>
  /** The DIDs created with a master key (a compressed point, hexadecimal). @throws {Problem} 400 */
  findDids(masterKey: string): Promise<{ dids: string[] }>
  getStats(): Promise<IndexerStats>
  /** The content of a storage entry. @throws {Problem} `NotFound` */
  getContent(entryId: string): Promise<Uint8Array>
  /** The last event of a storage entry. @throws {Problem} 400, `NotFound` */
  getEntry(entryId: string): Promise<EntryMetadata>
}

/** Serves a ledger. The limits apply to other agents, not to this agent's operations. */
export function createLedgerServer(
  ledger: EmbeddedLedger,
  { submissionsPerMinute, operationBytes, bytes }: LedgerServerLimits,
): LedgerServer {
  const pace = createRateLimiter(submissionsPerMinute, 60)

  async function submit(address: string, signedOperations: readonly Uint8Array[]): Promise<SubmissionResult> {
    if (signedOperations.length === 0) throw new Problem('BadRequest', 'submission batch is empty')
    if (signedOperations.length > maxOperations)
      throw new Problem('BadRequest', `more than ${maxOperations} operations`)
    const retryAfter = await pace(address, signedOperations.length)
    if (retryAfter !== undefined) {
      const detail = `too many operations came from your address; try again in ${retryAfter} seconds`
      throw new Problem('TooManyRequests', detail, { retryAfter })
    }
    const largest = Math.max(...signedOperations.map(({ length }) => length))
    if (largest > operationBytes)
      throw new Problem('BadRequest', `an operation has ${largest} bytes, more than ${operationBytes}`)
    if ((await ledger.readSize()) >= bytes) {
      const detail = 'this ledger is full for operations of other agents; its operator can raise VDR_BYTES'
      throw new Problem('error:InsufficientStorage', detail)
    }
    const { operationIds, transactionId } = await ledger.submitAll(signedOperations)
    return { tx_id: transactionId, operation_ids: operationIds }
  }

  return {
    ledger,
    submit: (address, signedOperations) => submit(address, signedOperations.map(fromHex)),
    submitObject: (address, object) =>
      submit(
        address,
        reading('object', () => decodeObject(fromHex(object))),
      ),

    async getOperation(operationId) {
      const entry = await ledger.findEntry(operationId)
      if (!entry) throw new Problem('NotFound', 'no such operation')
      return entry.status === 'pending' ? toPending(entry) : { ...toBlock(entry), ...toOperation(entry) }
    },

    async getTransaction(transactionId) {
      const entries = (await ledger.listTransaction(transactionId)).filter(
        ({ status }) => status !== 'pending',
      )
      if (!entries[0]) throw new Problem('NotFound', 'no such transaction')
      return { ...toBlock(entries[0]), operation_count: entries.length, operations: entries.map(toOperation) }
    },

    async findDids(masterKey) {
      const publicKey = reading('masterKey', () => fromPublicBytes(fromHex(masterKey)))
      return { dids: (await ledger.findByMasterKey(publicKey)).slice(0, maxDids).map(toShortForm) }
    },

    getStats: () => readStats(ledger),
    getContent: async (entryId) => (await getEntry(ledger, entryId)).content,
    getEntry: async (entryId) => toEntryMetadata(await getEntry(ledger, entryId)),
  }
}

async function getEntry(ledger: EmbeddedLedger, entryId: string): Promise<StorageEntry> {
  const entry = await ledger.getEntry(entryId)
  if (!entry) throw new Problem('NotFound', 'no such storage entry')
  return entry
}

function toEntryMetadata({ entryId: entry_hash, lastHash, suffix }: StorageEntry): EntryMetadata {
  const owner = suffix !== undefined && { did: toShortForm(suffix) }
  return { entry_hash, latest_event_hash: lastHash, status: 'active', ...owner }
}

async function readStats(ledger: EmbeddedLedger): Promise<IndexerStats> {
  const last = await ledger.findLast()
  if (!last) return { last_prism_slot_number: null, last_prism_block_number: null }
  const { slot_number: last_prism_slot_number, block_number: last_prism_block_number } = toBlock(last)
  return { last_prism_slot_number, last_prism_block_number }
}

function toBlock({ transactionId: tx_id, sequence, position, confirmsAt }: LedgerEntry) {
  const slot_number = Math.floor(Date.parse(confirmsAt) / 1_000)
  return { tx_id, slot_number, block_number: sequence - position, block_timestamp: confirmsAt }
}

function toOperation(entry: LedgerEntry): TransactionDetails['operations'][number] {
  const {
    operationId: operation_id,
    suffix,
    position: osn,
    signedOperation,
    status,
    details,
    submittedAt,
    confirmsAt,
  } = entry
  return {
    operation_id,
    did: toShortForm(suffix),
    absn: 0,
    osn,
    signed_operation_data: toHex(signedOperation),
    status: status === 'rejected' ? 'rejected' : 'confirmed',
    ...(details !== undefined && { details }),
    submitted_at: submittedAt,
    confirms_at: confirmsAt,
  }
}

function toPending({ operationId: operation_id, submittedAt, confirmsAt }: LedgerEntry): PendingOperation {
  return {
    error: 'not found',
    operation_id,
    status: 'pending',
    submitted_at: submittedAt,
    confirms_at: confirmsAt,
  }
}

function reading<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Problem('BadRequest', `${name}: ${reasonOf(error)}`, { cause: error })
  }
}
