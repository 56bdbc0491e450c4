/**
 * Requests the credential, at once and deferred (VCI §8, §9), and stores it after its checks. The requests can be repeated: key and access
 * token are the same, and a received credential is stored before it is checked.
 */
import type { Problem } from '../../base/problem.ts'
import { isTemporary, Problem as ProblemError } from '../../base/problem.ts'
import { toSteady } from '../../base/clock.ts'
import { createHolderKey, getHolderKey, type HolderKey } from '../../did-registrar/holder-key.ts'
import { advance, updateData } from '../../protocols/engine/record.ts'
import { issueCredential, type CredentialData } from '../../protocols/issue-credential/model.ts'
import { toFailure } from '../../protocols/issue-credential/refusals.ts'
import type { StoredOpenId4VciOffer } from '../../protocols/issue-credential/openid4vci.ts'
import type { Tx } from '../../storage/database.ts'
import { noteCount } from '../../storage/tx-context.ts'
import { LaterError, type Task, type Wallet } from '../../wallet/wallet.ts'
import { type Caller } from './caller.ts'
import { checkCredential } from './check.ts'
import { askForCredential, askForDeferred, type Outcome } from './credential-request.ts'
import { notifyIssuer } from './notification.ts'
import { callerOf, getOffer, type OfferRecord, withCalls } from './record.ts'

const nothing = () => Promise.resolve()

/** The tasks of a flow with an issuer, by the names that jobs carry. */
export const holderTasks: Readonly<Record<string, Task>> = {
  'credential request': requestCredential,
  'deferred request': requestDeferred,
  notification: notifyIssuer,
}

/** Requests the credential with a proof of a new key. */
async function requestCredential(wallet: Wallet, recordId: string) {
  const record = await withKey(wallet, await getOffer(wallet.db, recordId))
  if (record.state !== 'RequestPending') return nothing
  const caller = callerOf(wallet, record)
  const key = await keyOf(wallet, record)
  return conclude(caller, record, key, () => askForCredential(caller, record, key))
}

/** Asks for a deferred credential, not before the time that the issuer named. */
async function requestDeferred(wallet: Wallet, recordId: string) {
  const record = await getOffer(wallet.db, recordId)
  if (record.state !== 'CredentialDeferred') return nothing
  const { retryAfterMs = 0 } = record.receivedOffer
  if (Date.now() < retryAfterMs) throw new LaterError(new Date(toSteady(retryAfterMs)))
  const caller = callerOf(wallet, record)
  return conclude(caller, record, await keyOf(wallet, record), () => askForDeferred(caller, record))
}

/** The record with the DID of its key, which every repetition of the request uses. */
async function withKey(wallet: Wallet, record: OfferRecord): Promise<OfferRecord> {
  if (record.receivedOffer.binding === undefined || record.subjectId !== undefined) return record
  const subjectId = await createHolderKey(wallet)
  await change(wallet, record.id, { subjectId })
  return { ...record, subjectId }
}

async function keyOf(wallet: Wallet, { subjectId }: OfferRecord): Promise<HolderKey | undefined> {
  return subjectId === undefined ? undefined : getHolderKey(wallet, subjectId)
}

async function conclude(
  caller: Caller,
  record: OfferRecord,
  key: HolderKey | undefined,
  ask: () => Promise<Outcome>,
): Promise<(tx: Tx) => Promise<unknown>> {
  const { wallet } = caller
  const { received } = record.receivedOffer
  let offer: Partial<StoredOpenId4VciOffer> = {}
  try {
    const outcome: Outcome = received === undefined ? await ask() : { credential: received }
    if ('transactionId' in outcome) return await defer(caller, record, outcome)
    const { credential, notificationId = record.receivedOffer.notificationId } = outcome
    offer = { notificationId, received: undefined }
    // The issuer need not give it again.
    if (received === undefined)
      await change(wallet, record.id, withCalls(record, caller, { notificationId, received: credential }))
    const { issuer, claims } = await checkCredential(wallet, record, credential, key)
    return store(caller, record, { credential, issuer, claims, offer })
  } catch (error) {
    if (!(error instanceof ProblemError) || isTemporary(error)) throw error
    return fail(caller, record, error, offer)
  }
}

async function defer(
  caller: Caller,
  record: OfferRecord,
  { transactionId, intervalSeconds }: Extract<Outcome, { transactionId: string }>,
): Promise<(tx: Tx) => Promise<unknown>> {
  const retryAfterMs = Date.now() + intervalSeconds * 1_000
  const deferred = withCalls(record, caller, { transactionId, retryAfterMs })
  if (record.state === 'RequestPending')
    return (tx) => advance(tx, issueCredential, record, 'received deferral', deferred)
  await change(caller.wallet, record.id, deferred)
  throw new LaterError(new Date(toSteady(retryAfterMs)))
}

type Stored = {
  credential: string
  issuer: string
  claims: CredentialData['claims']
  offer: Partial<StoredOpenId4VciOffer>
}

function store(caller: Caller, record: OfferRecord, { credential, issuer, claims, offer }: Stored) {
  const { credentialFormat: format, subjectId = null } = record
  return async (tx: Tx) => {
    const stored = { credential, claims, ...withCalls(record, caller, offer), metaLastFailure: undefined }
    const { id, updatedAt } = await advance(
      tx,
      issueCredential,
      record,
      'received credential response',
      stored,
    )
    noteCount(tx, 'agent_credentials_received_total', { format, result: 'accepted' })
    const row = { id, format, credential, issuer, subject: subjectId, created_at: updatedAt! }
    await tx.insertInto('credential').values(row).execute()
  }
}

function fail(caller: Caller, record: OfferRecord, problem: Problem, offer: Partial<StoredOpenId4VciOffer>) {
  const { credentialFormat: format } = record
  return (tx: Tx) => {
    noteCount(tx, 'agent_credentials_received_total', { format, result: 'refused' })
    const failure = { ...withCalls(record, caller, offer), metaLastFailure: toFailure(problem) }
    return advance(tx, issueCredential, record, 'refused credential response', failure)
  }
}

/** Changes the record in a transaction of its own. */
async function change(wallet: Wallet, id: string, changed: Partial<CredentialData>): Promise<void> {
  await wallet.transaction(async (tx) => updateData(tx, await getOffer(tx, id), changed))
}
