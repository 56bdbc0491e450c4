/**
 * Sessions of OpenID4VP requests: rows that find the record of a request by its public URL. Secrets are
 * stored as digests.
 */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { digestOf, P256PrivateJwk } from '../../foundation/oauth/secrets.ts'

export type SessionRow = Selectable<WalletTables['presentation_session']>

export const insertSession = prepared(
  (db: Db, { record_id, token_digest, code_digest, sealed }: SessionRow) =>
    db.insertInto('presentation_session').values({ record_id, token_digest, code_digest, sealed }),
)

const rowsByToken = prepared((db: Db, { digest }: { digest: string }) =>
  db.selectFrom('presentation_session').selectAll().where('token_digest', '=', digest),
)

const sealedOf = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('presentation_session').select('sealed').where('record_id', '=', id),
)

const replaceSealed = prepared((db: Db, { id, sealed }: { id: string; sealed: string | null }) =>
  db.updateTable('presentation_session').set({ sealed }).where('record_id', '=', id),
)

/** The session of the last part of a request's URL. */
export async function findSession(db: Db, token: string): Promise<SessionRow | undefined> {
  return (await rowsByToken(db, { digest: digestOf(token) })).rows[0]
}

const contextOf = (recordId: string) => `presentation-session:${recordId}`

/** Seals the key that decrypts the response. */
export function sealKey(wallet: Wallet, recordId: string, key: PrivateJwk): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(key))
}

/** The key that decrypts the response, until the request has ended. */
export async function findKey(wallet: Wallet, recordId: string): Promise<PrivateJwk | undefined> {
  const sealed = await findSealed(wallet.db, recordId)
  if (sealed == null || sealed.startsWith(answerMark)) return undefined
  return P256PrivateJwk.parse(JSON.parse(wallet.unseal(contextOf(recordId), sealed)))
}

async function findSealed(db: Db, recordId: string): Promise<string | null | undefined> {
  return (await sealedOf(db, { id: recordId })).rows[0]?.sealed
}

/** The answer to a response, for a wallet that sends the same again. `digest` is that of the response. */
const StoredAnswer = z.object({
  digest: z.string(),
  redirectUri: z.string().optional(),
  /** Why the response was refused. */
  refusal: z.string().optional(),
})
export type StoredAnswer = z.infer<typeof StoredAnswer>

/** Before a sealed answer, which is where the key was. */
const answerMark = 'answer:'
const answerContextOf = (recordId: string) => `presentation-answer:${recordId}`

/** Replaces the key by the answer: the request has ended. */
export async function storeAnswer(
  tx: Tx,
  wallet: Wallet,
  recordId: string,
  answer: StoredAnswer | undefined,
): Promise<void> {
  const sealed = answer ? answerMark + wallet.seal(answerContextOf(recordId), JSON.stringify(answer)) : null
  await replaceSealed(tx, { id: recordId, sealed })
}

/** The answer to a response that has ended the request, until its response code is redeemed. */
export async function findAnswer(
  wallet: Wallet,
  recordId: string,
  digest: string,
): Promise<StoredAnswer | undefined> {
  const sealed = await findSealed(wallet.db, recordId)
  if (!sealed?.startsWith(answerMark)) return undefined
  const text = wallet.unseal(answerContextOf(recordId), sealed.slice(answerMark.length))
  const answer = StoredAnswer.parse(JSON.parse(text))
  return answer.digest === digest ? answer : undefined
}

/** Stores the digest of the code that the person's browser gets. */
export async function storeResponseCode(tx: Tx, recordId: string, code: string): Promise<void> {
  const update = tx.updateTable('presentation_session').set({ code_digest: digestOf(code) })
  await update.where('record_id', '=', recordId).execute()
}

/**
 * Uses up the response code of a record, and forgets the answer with it. False if it has another, or the code
 * was used.
 */
export async function useResponseCode(tx: Tx, recordId: string, code: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('presentation_session')
    .set({ code_digest: null, sealed: null })
    .where('record_id', '=', recordId)
    .where('code_digest', '=', digestOf(code))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
