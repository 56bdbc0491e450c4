/** Which envelopes were taken already: one that comes again is refused (wire.md 7.8). */
import { createHash } from 'node:crypto'
import type { Envelope } from '../didcomm/jwe.ts'
import type { MediatorDb, MediatorTx } from '../storage/database.ts'
import { Refusal } from './refusal.ts'

/** How many are remembered. */
const kept = 200_000

/** A digest of what an envelope is once it was opened: other keys or white space around it do not make it another. */
export function digestOf({ jwe }: Envelope): string {
  return createHash('sha256')
    .update([jwe.protected, jwe.iv, jwe.ciphertext, jwe.tag].join('.'))
    .digest('base64url')
}

/** Remembers an envelope. @throws {Refusal} `e.p.crypto.message.dejavu` when it was taken before. */
export async function remember(db: MediatorDb | MediatorTx, digest: string): Promise<void> {
  const { insertId, numInsertedOrUpdatedRows } = await db
    .insertInto('seen')
    .values({ digest })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (!numInsertedOrUpdatedRows) {
    throw new Refusal(
      'e.p.crypto.message.dejavu',
      'This very envelope was taken before. Encrypt the message anew to send it again.',
    )
  }
  await db
    .deleteFrom('seen')
    .where('sequence', '<=', Number(insertId) - kept)
    .execute()
}
