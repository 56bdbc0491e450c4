/**
 * What NeoPRISM's HTTP API sends and takes (`bin/neoprism-node/src/http/features/api`, `lib/did-resolver-http`), for the client and
 * for the server of it that are here. Members marked (ours) are additions, which other clients pass over and other servers leave out.
 */
import { z } from 'zod'

/** A SHA-256 in hexadecimal. */
const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'is not 64 hexadecimal digits')
const Hex = z.string().regex(/^([0-9a-fA-F]{2})+$/, 'is not hexadecimal')
const Instant = z.iso.datetime({ offset: true })
/** Absent and `null` are the same: Rust writes one, others the other. */
const optional = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined)

/** Operations in one submission. A transaction on Cardano holds fewer. */
export const maxOperations = 100
/** DIDs that one look-up by key tells of. */
export const maxDids = 1_000

/** The body of an error. */
const ApiError = z.object({ error: z.string() })

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

/** An operation and its place: `absn` counts transactions in a block, `osn` operations in a transaction, both from 0. */
const operation = {
  operation_id: Hash,
  did: z.string(),
  absn: z.int(),
  osn: z.int(),
  signed_operation_data: Hex,
}
const block = { tx_id: Hash, slot_number: z.int(), block_number: z.int(), block_timestamp: Instant }

/** (ours) What became of an operation; NeoPRISM shows one that broke a rule like any other. */
const verdict = {
  status: z.enum(['confirmed', 'rejected']),
  details: z.string().optional(),
  submitted_at: Instant,
  confirms_at: Instant,
}

/** An operation that is in a block. */
export const OperationDetails = z
  .object({ ...block, ...operation, ...verdict })
  .meta({ id: 'LedgerOperation' })
export type OperationDetails = z.input<typeof OperationDetails>
export const TransactionDetails = z
  .object({ ...block, operation_count: z.int(), operations: z.array(z.object({ ...operation, ...verdict })) })
  .meta({ id: 'LedgerTransaction' })
export type TransactionDetails = z.input<typeof TransactionDetails>

/** (ours) The error 404 of an operation that is known and not yet in a block. */
export const PendingOperation = z.object({
  ...ApiError.shape,
  operation_id: Hash,
  status: z.literal('pending'),
  submitted_at: Instant,
  confirms_at: Instant,
})
export type PendingOperation = z.input<typeof PendingOperation>

/** What a client reads of an operation that is in a block; of an operation it is only if it names or shows one. */
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
/** What a client reads of one that is not: nothing, or that it is pending. */
export const UnseenOperation = PendingOperation.partial({
  operation_id: true,
  status: true,
  submitted_at: true,
  confirms_at: true,
})

/** The error codes of DID resolution as NeoPRISM writes them, with their statuses. */
export const resolutionErrors = {
  'https://www.w3.org/ns/did#INVALID_DID': 400,
  'https://www.w3.org/ns/did#NOT_FOUND': 404,
  'https://www.w3.org/ns/did#REPRESENTATION_NOT_SUPPORTED': 406,
  'https://www.w3.org/ns/did#METHOD_NOT_SUPPORTED': 501,
} as const
export type ResolutionErrorCode = keyof typeof resolutionErrors

/** What a client reads of a resolution result. */
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

/** What a client reads of the refusal of an operation; `details` (ours) is the reason. */
export const Refusal = z.object({ details: optional(z.string().max(1_000)) })

/** (ours) The DIDs whose create operation names a master key. */
export const DidList = z
  .object({ dids: z.array(z.string().regex(/^did:prism:[0-9a-f]{64}$/)).max(maxDids) })
  .meta({ id: 'LedgerDids' })

/** A public key in a query (ours): a compressed point on secp256k1 in hexadecimal. */
export const MasterKey = z
  .string()
  .regex(/^0[23][0-9a-fA-F]{64}$/, 'is not a compressed point on secp256k1 in hexadecimal')
