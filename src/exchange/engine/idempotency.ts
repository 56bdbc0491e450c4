/**
 * Idempotency keys (draft-ietf-httpapi-idempotency-key-header): a repeated request returns the record that
 * the first one has created.
 *
 * The id of the record follows from the key, so the primary key of the records finds the first request, and
 * lets only one of concurrent requests through.
 */
import { createHash } from 'node:crypto'
import { v5 } from 'uuid'
import * as z from 'zod'
import { canonicalize } from '../../foundation/json.ts'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findRecord } from './find.ts'
import type { Machine } from '../../definitions/machine.ts'
import type { Protocol, Rec } from './protocol.ts'

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'has no 1 to 255 visible ASCII characters')
  .optional()
  .describe(
    'Names the request. A request with the same key and the same body returns the record that the first one has created (extension).',
  )

/** The headers of a request that can have a key. */
export const IdempotencyHeader = z.object({ 'idempotency-key': IdempotencyKey })

/**
 * The field of a record that was created by a request with a key: the SHA-256 of the request’s body,
 * base64url.
 */
export const requestDigest = z.string().optional()

/** A namespace of this program for UUIDs of version 5 (RFC 9562 §5.5). */
const namespace = 'f2b2c8b6-54a3-5a7e-8f0e-6d1f6f0b7c55'

const isOtherBody = (error: unknown) => error instanceof Problem && error.status === 422

/** The id of a new record, and the fields to store with it. */
export type Created = { id: string; requestDigest?: string }

/**
 * Calls `create` with the id of the new record and the fields to store with it, unless a request with the key
 * has created it already. `scope` is what else the id follows from.
 *
 * @throws {Problem} 422 if that request had another body; whatever `create` throws
 */
export async function createOnce<M extends Machine, Data extends { requestDigest?: string | undefined }>(
  wallet: Wallet,
  protocol: Protocol<M, Data>,
  { key, body, scope = '' }: { key: string | undefined; body: unknown; scope?: string },
  create: (created: Created) => Promise<Rec<M, Data>>,
): Promise<Rec<M, Data>> {
  if (key === undefined) return create({ id: newId() })
  const id = v5(`${scope}${protocol.name} ${key}`, namespace)
  const digest = createHash('sha256').update(canonicalize(body)).digest('base64url')
  const findFirst = async (db: Db) => {
    const first = await findRecord(db, protocol, id)
    if (first && first.requestDigest !== digest)
      throw new Problem(
        'UnprocessableEntity',
        `The Idempotency-Key ${key} was used for a request with another body, which created ${id}. Use a new key.`,
      )
    return first
  }
  const first = await findFirst(wallet.db)
  if (first) return first
  try {
    return await create({ id, requestDigest: digest })
  } catch (error) {
    // A concurrent request with the key may have been faster. A transaction sees what is about to be
    // committed.
    const faster = await wallet.transaction(findFirst, { canWait: true }).catch((lookup: unknown) => {
      throw isOtherBody(lookup) ? lookup : error
    })
    if (faster) return faster
    throw error
  }
}
