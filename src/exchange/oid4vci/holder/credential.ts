/**
 * Requests the credential, at once and deferred (VCI §8, §9), and stores it after its checks. The requests
 * can be repeated: key and access token are the same, and a received credential is stored before it is
 * checked.
 */
import { isTemporary, Problem } from '../../../foundation/problem.ts'
import { toSteady } from '../../../foundation/clock.ts'
import { createHolderKeys, getHolderKeys, type HolderKey } from '../../../wallet/did-registrar/holder-key.ts'
import { advance, updateData } from '../../engine/record.ts'
import { issueCredential, type CredentialData } from '../../issuance/model.ts'
import { toFailure } from '../../issuance/refusals.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import type { Tx } from '../../../foundation/storage/database.ts'
import { noteCount } from '../../../foundation/storage/tx-context.ts'
import { LaterError, type Task, type Wallet } from '../../../wallet/wallet.ts'
import { toRenewal } from './begin-renewal.ts'
import { type Caller } from './caller.ts'
import { type Checked, checkCredentials } from './check.ts'
import { askForCredential, askForDeferred, type Outcome } from './credential-request.ts'
import { readLook } from './look.ts'
import { notifyIssuer } from './notification.ts'
import { callerOf, getOffer, type OfferRecord, withCalls } from './record.ts'
import { renewCredential } from './renewal.ts'

const nothing = () => Promise.resolve()

/** The tasks of a flow with an issuer, by the names that jobs carry. */
export const holderTasks: Readonly<Record<string, Task>> = {
  'credential request': requestCredential,
  'deferred request': requestDeferred,
  notification: notifyIssuer,
  renewal: renewCredential,
}

/** Requests the credential with a proof of a new key, or of several for copies. */
async function requestCredential(wallet: Wallet, recordId: string) {
  const record = await withKeys(wallet, await getOffer(wallet.db, recordId))
  if (record.state !== 'RequestPending') return nothing
  const caller = callerOf(wallet, record)
  const keys = await keysOf(wallet, record)
  return conclude(caller, record, keys, () => askForCredential(caller, record, keys))
}

/** Asks for a deferred credential, not before the time that the issuer named. */
async function requestDeferred(wallet: Wallet, recordId: string) {
  const record = await getOffer(wallet.db, recordId)
  if (record.state !== 'CredentialDeferred') return nothing
  const { retryAfterMs = 0 } = record.receivedOffer
  if (Date.now() < retryAfterMs) throw new LaterError(new Date(toSteady(retryAfterMs)))
  const caller = callerOf(wallet, record)
  const keys = await keysOf(wallet, record)
  return conclude(caller, record, keys, () => askForDeferred(caller, record, keys))
}

/** The record with the DIDs of its keys, which every repetition of the request uses. */
async function withKeys(wallet: Wallet, record: OfferRecord): Promise<OfferRecord> {
  const { binding, copies = 1 } = record.receivedOffer
  if (binding === undefined || record.subjectId !== undefined) return record
  const [subjectId, ...copySubjectIds] = await createHolderKeys(wallet, copies)
  const receivedOffer = { ...record.receivedOffer, ...(copies > 1 && { copySubjectIds }) }
  await change(wallet, record.id, { subjectId, receivedOffer })
  return { ...record, subjectId, receivedOffer }
}

/** The keys of the request. None if the credential is bound to none. */
async function keysOf(wallet: Wallet, { subjectId, receivedOffer }: OfferRecord): Promise<HolderKey[]> {
  if (subjectId === undefined) return []
  return getHolderKeys(wallet, [subjectId, ...(receivedOffer.copySubjectIds ?? [])])
}

async function conclude(
  caller: Caller,
  record: OfferRecord,
  keys: readonly HolderKey[],
  ask: () => Promise<Outcome>,
): Promise<(tx: Tx) => Promise<unknown>> {
  const { wallet } = caller
  const { received, receivedCopies = [] } = record.receivedOffer
  let offer: Partial<StoredOpenId4VciOffer> = {}
  try {
    const outcome: Outcome =
      received === undefined ? await ask() : { credentials: [received, ...receivedCopies] }
    if ('transactionId' in outcome) return await defer(caller, record, outcome)
    const { credentials, notificationId = record.receivedOffer.notificationId } = outcome
    offer = { notificationId, received: undefined, receivedCopies: undefined }
    // The issuer need not give them again.
    if (received === undefined) {
      const [first, ...further] = credentials
      const kept = { notificationId, received: first, ...(further.length > 0 && { receivedCopies: further }) }
      await change(wallet, record.id, withCalls(record, caller, kept))
    }
    const checked = await checkCredentials(wallet, record, credentials, keys)
    const look = await readLook(caller, record, checked[0]!.credential)
    return store(caller, record, checked, { ...offer, look })
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
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

/** The first copy is the credential of the record. */
function store(
  caller: Caller,
  record: OfferRecord,
  [first, ...further]: readonly Checked[],
  offer: Partial<StoredOpenId4VciOffer>,
) {
  const { credentialFormat: format } = record
  const { credential, issuer, claims, key } = first!
  const copies = further.map((copy) => ({ credential: copy.credential, subjectId: copy.key!.did }))
  const held = { credential, claims, subjectId: key?.did, ...(copies.length > 0 && { copies }) }
  return async (tx: Tx) => {
    const renewal = await toRenewal(tx, caller.wallet, record, credential)
    const stored = {
      ...held,
      ...withCalls(record, caller, { ...offer, renewal }),
      metaLastFailure: undefined,
    }
    const { id, updatedAt } = await advance(
      tx,
      issueCredential,
      record,
      'received credential response',
      stored,
    )
    noteCount(tx, 'agent_credentials_received_total', { format, result: 'accepted' })
    const row = { id, format, credential, issuer, subject: key?.did ?? null, created_at: updatedAt! }
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
