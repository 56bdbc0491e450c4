/** Refused requests of wallets, in the log of messages. Accepted requests are states of the record. */
import { logRefused } from '../../wallet/outbox/message-log.ts'
import { getRecord } from '../engine/find.ts'
import { updateData } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { writeIfRoom } from '../../wallet/quotas.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { OAuthError, toFailure } from '../../foundation/oauth/oauth-error.ts'
import { findGrantById, findRecords, type GrantRow, recordIdsOf } from './grant.ts'

/** The type of a request in the log. It has no DID of a sender. */
type RequestType =
  'authorization-request' | 'log-in' | 'presentation' | 'token-request' | 'credential-request'

/**
 * Logs the error that the wallet got, for the trace. Refusals after the end of the flow are not logged,
 * because whoever has the link can cause any number of them.
 */
export async function logRefusal(
  tx: Tx,
  { thid, issuingDID = '', state }: Pick<CredentialRecord, 'thid' | 'issuingDID' | 'state'>,
  type: RequestType,
  { code, message }: OAuthError,
): Promise<void> {
  if (issueCredential.states[state]?.ends !== undefined) return
  await logRefused(tx, { thread: thid, type, to: issuingDID }, `${code}: ${message}`)
}

/**
 * Runs the checks of a request, and logs its refusal if the request names a grant. A wallet gets its first
 * DPoP nonce by a refusal, which is not logged.
 */
export async function withLog<T>(
  wallet: Wallet,
  type: RequestType,
  find: () => Promise<GrantRow | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isRefusal = error instanceof OAuthError && error.code !== 'use_dpop_nonce'
    const grant = isRefusal ? await find() : undefined
    if (isRefusal && grant)
      await writeIfRoom(wallet, async (tx) => {
        const [record] = await findRecords(tx, recordIdsOf(grant))
        if (record) await logRefusal(tx, record, type, error)
      })
    throw error
  }
}

/** Stores why a log-in or a presentation for an offer was refused, for the trace. The offer stays open. */
export async function logRefusedStep(
  wallet: Wallet,
  grantId: string,
  type: 'log-in' | 'presentation',
  error: OAuthError,
): Promise<void> {
  await writeIfRoom(wallet, async (tx) => {
    const grant = await findGrantById(tx, grantId)
    const records = grant ? await findRecords(tx, recordIdsOf(grant)) : []
    const open = records.filter(({ state }) => state === 'OfferCreated')
    if (open[0]) await logRefusal(tx, open[0], type, error)
    for (const record of open) await updateData(tx, record, { metaLastFailure: toFailure(error) })
  })
}

/** Stores why a request was refused, for the trace. The wallet may send a better one. */
export async function logRefusedRequest(wallet: Wallet, recordId: string, error: OAuthError): Promise<void> {
  await writeIfRoom(wallet, async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    await logRefusal(tx, record, 'credential-request', error)
    if (record.state === 'OfferRedeemed') await updateData(tx, record, { metaLastFailure: toFailure(error) })
  })
}
