/** Records of received offers. */
import { Problem } from '../../../foundation/problem.ts'
import { getRecord } from '../../engine/find.ts'
import { updateData } from '../../engine/record.ts'
import { toFailure } from '../../issuance/refusals.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import type { Db } from '../../../foundation/storage/database.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { Caller } from './caller.ts'

export type OfferRecord = CredentialRecord & { receivedOffer: StoredOpenId4VciOffer }

/** @throws {Problem} 404; 400 for another record */
export async function getOffer(db: Db, recordId: string): Promise<OfferRecord> {
  const record = await getRecord(db, issueCredential, recordId)
  if (record.receivedOffer) return record as OfferRecord
  throw new Problem(
    'BadRequest',
    `The record ${recordId} is not an offer of an OpenID4VCI issuer, which POST /issue-credentials/records/openid4vci receives.`,
  )
}

const recordsOf = (db: Db, { thid }: OfferRecord) =>
  db
    .selectFrom('record')
    .where('protocol', '=', issueCredential.name)
    .where('thid', '=', thid)
    .where('role', '=', 'Holder')

/** The records of the same offer that have no access token yet, without the record itself. */
export async function findOpenSiblings(db: Db, record: OfferRecord): Promise<OfferRecord[]> {
  const rows = await recordsOf(db, record)
    .select('id')
    .where('state', 'in', ['OfferReceived', 'AuthorizationPending'])
    .where('id', '!=', record.id)
    .orderBy('place')
    .execute()
  const siblings: OfferRecord[] = []
  for (const row of rows) siblings.push(await getOffer(db, row.id))
  return siblings
}

/** The records of the same offer that have their credential. */
export async function findReceived(db: Db, record: OfferRecord): Promise<OfferRecord[]> {
  const rows = await recordsOf(db, record).select('id').where('state', '=', 'CredentialReceived').execute()
  const received: OfferRecord[] = []
  for (const row of rows) received.push(await getOffer(db, row.id))
  return received
}

/** The place for another record of the same offer. */
export async function findFreePlace(db: Db, record: OfferRecord): Promise<number> {
  const rows = await recordsOf(db, record).select('place').orderBy('place', 'desc').limit(1).execute()
  return rows[0]!.place + 1
}

/** The next calls of a record. */
export function callerOf(wallet: Wallet, { receivedOffer }: OfferRecord): Caller {
  return { wallet, calls: [...receivedOffer.calls] }
}

/** The change of a record's offer, with the calls. */
export function withCalls(
  { receivedOffer }: OfferRecord,
  { calls }: Caller,
  change: Partial<StoredOpenId4VciOffer> = {},
) {
  return { receivedOffer: { ...receivedOffer, ...change, calls } }
}

/**
 * Stores the calls, the reason of a failed step and `change`, and throws the reason. The record stays in its
 * state, and the step can be repeated.
 */
export async function failStep(
  caller: Caller,
  { id, state }: OfferRecord,
  error: unknown,
  change: Partial<StoredOpenId4VciOffer> = {},
): Promise<never> {
  if (error instanceof Problem)
    await caller.wallet.transaction(async (tx) => {
      const record = await getOffer(tx, id)
      if (record.state !== state) return
      await updateData(tx, record, {
        ...withCalls(record, caller, change),
        metaLastFailure: toFailure(error),
      })
    })
  throw error
}
