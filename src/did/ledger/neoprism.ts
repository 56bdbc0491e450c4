/**
 * The types of the NeoPRISM HTTP API (NeoPRISM's `bin/neoprism-node/src/http/features/api`,
 * `lib/did-resolver-http`), for client and server. Members marked "Extension" are not part of NeoPRISM: its
 * clients ignore them, and its servers leave them out.
 */
import * as z from 'zod'
import { shortForm } from '../prism/did.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'is not 64 hexadecimal digits')
const Hex = z.string().regex(/^([0-9a-fA-F]{2})+$/, 'is not hexadecimal')
const Instant = z.iso.datetime({ offset: true })
/** Null means absent: NeoPRISM writes null. */
const optional = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined)

/** Limit on the operations of one submission. A Cardano transaction holds fewer. */
export const maxOperations = 100
/** Limit on the DIDs in one response. */
export const maxDids = 1_000

export const ApiError = z.object({ error: z.string() })

export const SignedOperationsSubmission = z
  .object({
    signed_operations: z
      .array(Hex)
      .min(1)
      .max(maxOperations)
      .describe('`SignedAtalaOperation`s in hexadecimal.'),
  })
  .meta({ id: 'LedgerSignedOperationsSubmission' })
export const ObjectSubmission = z
  .object({ object: Hex.describe('An `AtalaObject` in hexadecimal.') })
  .meta({ id: 'LedgerObjectSubmission' })
export const SubmissionResult = z
  .object({ tx_id: Hash, operation_ids: z.array(Hash) })
  .meta({ id: 'LedgerSubmission' })
export type SubmissionResult = z.input<typeof SubmissionResult>

/** `absn` is the index of the transaction in its block, `osn` that of the operation in the transaction. */
const operation = {
  operation_id: Hash,
  did: z.string(),
  absn: z.int(),
  osn: z.int(),
  signed_operation_data: Hex,
}
const block = { tx_id: Hash, slot_number: z.int(), block_number: z.int(), block_timestamp: Instant }

/** Extension: the verdict of an operation. NeoPRISM does not mark invalid ones. */
const verdict = {
  status: z.enum(['confirmed', 'rejected']),
  details: z.string().optional(),
  submitted_at: Instant,
  confirms_at: Instant,
}

export const OperationDetails = z
  .object({ ...block, ...operation, ...verdict })
  .meta({ id: 'LedgerOperation' })
export type OperationDetails = z.input<typeof OperationDetails>
export const TransactionDetails = z
  .object({ ...block, operation_count: z.int(), operations: z.array(z.object({ ...operation, ...verdict })) })
  .meta({ id: 'LedgerTransaction' })
export type TransactionDetails = z.input<typeof TransactionDetails>

/** Extension: the body of status 404 for a known operation that is not in a block yet. */
export const PendingOperation = z.object({
  ...ApiError.shape,
  operation_id: Hash,
  status: z.literal('pending'),
  submitted_at: Instant,
  confirms_at: Instant,
})
export type PendingOperation = z.input<typeof PendingOperation>

/** An operation in a block, as the client reads it. At least one member must identify the operation. */
export const SeenOperation = z
  .object({
    operation_id: optional(Hash),
    tx_id: optional(Hash),
    signed_operation_data: optional(Hex),
    block_timestamp: optional(Instant),
    status: optional(z.enum(['confirmed', 'rejected'])),
    details: optional(z.string().max(1_000)),
    submitted_at: optional(Instant),
    confirms_at: optional(Instant),
  })
  .refine(
    ({ operation_id, tx_id, signed_operation_data }) =>
      (operation_id ?? tx_id ?? signed_operation_data) !== undefined,
  )
export type SeenOperation = z.output<typeof SeenOperation>
/** The body of status 404, as the client reads it: unknown or pending. */
export const UnseenOperation = PendingOperation.partial({
  operation_id: true,
  status: true,
  submitted_at: true,
  confirms_at: true,
})

/** NeoPRISM's error codes of DID resolution and their HTTP statuses. */
export const resolutionErrors = {
  'https://www.w3.org/ns/did#INVALID_DID': 400,
  'https://www.w3.org/ns/did#NOT_FOUND': 404,
  'https://www.w3.org/ns/did#REPRESENTATION_NOT_SUPPORTED': 406,
  'https://www.w3.org/ns/did#METHOD_NOT_SUPPORTED': 501,
} as const
export type ResolutionErrorCode = keyof typeof resolutionErrors

/** A resolution result, as the client reads it. */
export const SeenResolution = z.object({
  didDocument: optional(z.looseObject({ id: z.string() })),
  didResolutionMetadata: z.object({ error: optional(z.object({ type: z.string() })) }),
  didDocumentMetadata: z.object({
    created: optional(Instant),
    updated: optional(Instant),
    deactivated: optional(z.boolean()),
    canonicalId: optional(z.string()),
    versionId: optional(Hash),
  }),
})
export type SeenResolution = z.output<typeof SeenResolution>

export const IndexerStats = z
  .object({ last_prism_slot_number: z.int().nullable(), last_prism_block_number: z.int().nullable() })
  .meta({ id: 'LedgerStats' })
export type IndexerStats = z.input<typeof IndexerStats>

/** The last event of a storage entry. Extension: the DID that it belongs to. */
export const EntryMetadata = z
  .object({
    entry_hash: Hash,
    latest_event_hash: Hash,
    status: z.literal('active'),
    did: z.string().optional(),
  })
  .meta({ id: 'LedgerEntry' })
export type EntryMetadata = z.input<typeof EntryMetadata>

/** The same, as the client reads it. */
export const SeenEntry = EntryMetadata.extend({ status: z.string(), did: optional(z.string()) })

/** The refusal of an operation, as the client reads it. Extension: `details` is the reason. */
export const Refusal = z.object({ details: optional(z.string().max(1_000)) })

/** Extension: the DIDs whose create operation has a master key. */
export const DidList = z
  .object({ dids: z.array(z.string().regex(shortForm)).max(maxDids) })
  .meta({ id: 'LedgerDids' })

/** Extension: a public key in a query, a compressed point on secp256k1 in hexadecimal. */
export const MasterKey = z
  .string()
  .regex(/^0[23][0-9a-fA-F]{64}$/, 'is not a compressed point on secp256k1 in hexadecimal')
