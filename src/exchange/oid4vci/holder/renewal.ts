/**
 * Renews a received credential with the refresh token of its issuer: new keys, new proofs, and a new set of
 * copies in place of the old one. The wallet does so by itself before the credential ends, or when asked. A
 * request of a verifier never leads to it, because the issuer must not learn when a credential is used.
 */
import { isTemporary, Problem } from '../../../foundation/problem.ts'
import { toSteady } from '../../../foundation/clock.ts'
import {
  createHolderKeys,
  getHolderKeys,
  type HolderKey,
  removeHolderKeys,
} from '../../../wallet/did-registrar/holder-key.ts'
import { enqueue } from '../../../wallet/outbox/job.ts'
import { queueOf, updateData, updateWithEvent } from '../../engine/record.ts'
import { readStanding } from '../../held-credentials/standing.ts'
import { issuanceFormats } from '../../issuance/format.ts'
import { invalidIssue } from '../../issuance/refusals.ts'
import { issueCredential, type CredentialData } from '../../issuance/model.ts'
import { changesOf, isEnded, planRenewal, type Renewal, type RunningRenewal } from '../../issuance/renewal.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import type { Tx } from '../../../foundation/storage/database.ts'
import { LaterError, type Wallet } from '../../../wallet/wallet.ts'
import { plan, start } from './begin-renewal.ts'
import type { Caller } from './caller.ts'
import { type Checked, checkCredentials } from './check.ts'
import { askForCredential, askForDeferred } from './credential-request.ts'
import { readLook } from './look.ts'
import { callerOf, getOffer, type OfferRecord, withCalls } from './record.ts'
import { refreshToken } from './refresh-token.ts'
import { readTermsAgain } from './terms.ts'

/** How long a planned renewal waits while `OID4VC_REFRESH` is off. */
const pauseMs = 86_400_000

type Write = (tx: Tx) => Promise<unknown>
const nothing: Write = () => Promise.resolve()

type RenewableRecord = OfferRecord & { receivedOffer: { renewal: Renewal; renewing: RunningRenewal } }

/** Task: renews the credential when it is due. Each step is stored, so that a repetition goes on after it. */
export async function renewCredential(wallet: Wallet, recordId: string): Promise<Write> {
  const { receivedOffer } = await getOffer(wallet.db, recordId)
  if (isPlanned(receivedOffer)) await startPlanned(wallet, recordId)
  const record = await getRunning(wallet, recordId)
  if (!record) return nothing
  const { startedAt, retryAfterMs = 0 } = record.receivedOffer.renewing
  if (Date.now() < retryAfterMs) throw new LaterError(new Date(toSteady(retryAfterMs)))
  const caller = callerOf(wallet, record)
  try {
    return await renew(caller, record)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const endsAtMs = Date.parse(startedAt) + wallet.env.config.MESSAGE_RETRY_FOR * 1_000
    if (isTemporary(error) && Date.now() < endsAtMs) throw error
    return (tx) => fail(tx, caller, recordId, error)
  }
}

const isPlanned = ({ renewal }: StoredOpenId4VciOffer) =>
  renewal?.dueAt !== undefined && ['none', 'possible'].includes(renewal.state)

/**
 * Starts a renewal that is due. A revoked credential is not renewed, and one without a refresh token needs a
 * person.
 *
 * @throws {LaterError} if it is not due
 */
async function startPlanned(wallet: Wallet, recordId: string): Promise<void> {
  const record = await getOffer(wallet.db, recordId)
  const dueAtMs = Date.parse(record.receivedOffer.renewal!.dueAt!)
  if (Date.now() < dueAtMs) throw new LaterError(new Date(toSteady(dueAtMs)))
  if (!wallet.env.config.OID4VC_REFRESH)
    return wallet.transaction((tx) => planRenewal(tx, recordId, Date.now() + pauseMs))
  const isRevoked = record.revocation !== undefined || (await hasBeenRevoked(wallet, record))
  await wallet.transaction(async (tx) => {
    const current = await getOffer(tx, recordId)
    if (!isPlanned(current.receivedOffer)) return
    const caller = callerOf(wallet, current)
    if (isRevoked) await end(tx, caller, recordId, { state: 'ended', reason: revoked })
    else if (current.receivedOffer.renewal!.state === 'possible') await start(tx, current)
    else await end(tx, caller, recordId, { state: 'needs-you', reason: withoutToken })
  })
}

const revoked = 'The issuer has revoked the credential.'
const withoutToken = 'The credential ends soon, and its issuer has given no refresh token. Receive it again.'

async function hasBeenRevoked(wallet: Wallet, record: OfferRecord): Promise<boolean> {
  const decoded = issuanceFormats[record.credentialFormat].read(record.credential!)
  const issuerDid = await issuerOf(wallet, record.id)
  const { status } = await readStanding(wallet, record.id, { ...decoded, issuerDid })
  return status === 'revoked'
}

async function issuerOf({ db }: Wallet, id: string): Promise<string> {
  const row = await db
    .selectFrom('credential')
    .select('issuer')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.issuer
}

async function getRunning(wallet: Wallet, recordId: string): Promise<RenewableRecord | undefined> {
  const record = await getOffer(wallet.db, recordId)
  return record.receivedOffer.renewal?.state === 'running' ? (record as RenewableRecord) : undefined
}

async function renew(caller: Caller, { id, receivedOffer }: RenewableRecord): Promise<Write> {
  const { wallet } = caller
  const { renewing } = receivedOffer
  if (!renewing.received && isEnded(renewing)) {
    await readTermsAgain(caller, id)
    await refreshToken(wallet, id, {})
  }
  // The issuer may have ended it.
  const record = await getRunning(wallet, id)
  if (!record) return nothing
  caller.calls = callerOf(wallet, record).calls
  const keys = await keysOf(wallet, record)
  const credentials = renewing.received ?? (await ask(caller, record, keys))
  try {
    const checked = await checkCredentials(wallet, record, credentials, keys)
    if (checked[0]!.issuer !== (await issuerOf(wallet, id)))
      throw invalidIssue('its issuer is not that of the credential which it is to replace')
    const look = await readLook(caller, record, checked[0]!.credential)
    return (tx) => replace(tx, caller, id, checked, look)
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    return (tx) => refuse(tx, caller, id, error)
  }
}

/** The new keys, which every repetition uses. Those of a renewal that failed are used first. */
async function keysOf(wallet: Wallet, { id, receivedOffer }: RenewableRecord): Promise<HolderKey[]> {
  const { binding, renewing, spareSubjectIds: spare = [] } = receivedOffer
  if (binding === undefined) return []
  let { subjectIds } = renewing
  if (!subjectIds) {
    const kept = spare.slice(0, renewing.copies)
    subjectIds = [...kept, ...(await createHolderKeys(wallet, renewing.copies - kept.length))]
    await note(wallet, id, { subjectIds })
  }
  return getHolderKeys(wallet, subjectIds)
}

/** The new credentials, which are stored: the issuer need not give them again. */
async function ask(caller: Caller, record: RenewableRecord, keys: readonly HolderKey[]): Promise<string[]> {
  const { wallet } = caller
  const { transactionId } = record.receivedOffer.renewing
  const asked = { ...record, receivedOffer: { ...record.receivedOffer, transactionId } }
  const outcome =
    transactionId === undefined
      ? await askForCredential(caller, asked, keys)
      : await askForDeferred(caller, asked, keys)
  if ('transactionId' in outcome) {
    const retryAfterMs = Date.now() + outcome.intervalSeconds * 1_000
    await note(wallet, record.id, { transactionId: outcome.transactionId, retryAfterMs }, caller)
    throw new LaterError(new Date(toSteady(retryAfterMs)))
  }
  const { credentials: received, notificationId } = outcome
  await note(wallet, record.id, { received, notificationId }, caller)
  return received
}

/** Stores how far the renewal is. */
function note(wallet: Wallet, id: string, progress: Partial<RunningRenewal>, caller?: Caller): Promise<void> {
  return wallet.transaction(async (tx) => {
    const record = await getOffer(tx, id)
    const renewing = { ...record.receivedOffer.renewing!, ...progress }
    await updateData(tx, record, withCalls(record, caller ?? callerOf(wallet, record), { renewing }))
  })
}

/** Stores the new set in place of the old one. */
async function replace(
  tx: Tx,
  caller: Caller,
  id: string,
  checked: readonly Checked[],
  look: StoredOpenId4VciOffer['look'],
): Promise<void> {
  const record = await getOffer(tx, id)
  const { renewal, renewing } = record.receivedOffer
  const [first, ...further] = checked
  const { credential, claims, key } = first!
  const changes = changesOf(record.claims, claims)
  const held: Partial<CredentialData> = {
    credential,
    claims,
    subjectId: key?.did,
    copies:
      further.length === 0
        ? undefined
        : further.map((copy) => ({ credential: copy.credential, subjectId: copy.key!.did })),
    standing: undefined,
    revocation: undefined,
  }
  const subject = key?.did ?? null
  await tx.updateTable('credential').set({ credential, subject }).where('id', '=', id).execute()
  const next: Renewal = {
    state: 'possible',
    dueAt: await plan(tx, id, issuanceFormats[record.credentialFormat].read(credential)),
    renewedAt: new Date().toISOString(),
    count: (renewal?.count ?? 0) + 1,
    ...(changes.length > 0 && { changes }),
  }
  const copies = renewing!.copies === 1 ? undefined : renewing!.copies
  await removeHolderKeys(tx, record.receivedOffer.replacedSubjectIds ?? [])
  const offer = {
    copies,
    look,
    notificationId: renewing!.notificationId,
    replacedSubjectIds: subjectsOf(record),
  }
  await end(tx, caller, id, next, held, offer)
  await notify(tx, id)
}

/** The old set stays, and the issuer is told that the new one was refused. */
async function refuse(tx: Tx, caller: Caller, id: string, problem: Problem): Promise<void> {
  const { notificationId } = (await getOffer(tx, id)).receivedOffer.renewing!
  await fail(tx, caller, id, problem, { notificationId, refusedNotificationId: notificationId })
  await notify(tx, id)
}

/** The old set stays. The wallet tries again before the credential ends. */
async function fail(
  tx: Tx,
  caller: Caller,
  id: string,
  { message: reason }: Problem,
  offer: Partial<StoredOpenId4VciOffer> = {},
): Promise<void> {
  const { credential, credentialFormat } = await getOffer(tx, id)
  const validity = issuanceFormats[credentialFormat].read(credential!)
  const { validUntil = Infinity } = validity
  const outcome: Renewal =
    validUntil * 1_000 <= Date.now()
      ? { state: 'needs-you', reason }
      : { state: 'possible', reason, dueAt: await plan(tx, id, validity) }
  await end(tx, caller, id, outcome, {}, offer)
}

async function notify(tx: Tx, recordId: string): Promise<void> {
  const body = { kind: 'task', protocol: issueCredential.name, recordId, task: 'notification' } as const
  await enqueue(tx, queueOf(recordId), body)
}

/** The DIDs of the keys that a credential and its copies are bound to. */
function subjectsOf({ subjectId, copies = [] }: Partial<CredentialData>): string[] {
  return [subjectId, ...copies.map((copy) => copy.subjectId)].filter((did) => did !== undefined)
}

/** Ends a renewal, and tells so by an event. The keys that it has not used are for the next one. */
async function end(
  tx: Tx,
  caller: Caller,
  id: string,
  outcome: Renewal,
  data: Partial<CredentialData> = {},
  offer: Partial<StoredOpenId4VciOffer> = {},
): Promise<void> {
  const record = await getOffer(tx, id)
  const { renewing, renewal: before, spareSubjectIds = [] } = record.receivedOffer
  const { renewedAt, count } = before!
  const renewal = { renewedAt, count, ...outcome }
  const spare = new Set([...(renewing?.subjectIds ?? []), ...spareSubjectIds])
  for (const used of subjectsOf(data)) spare.delete(used)
  const ended = { renewal, renewing: undefined, spareSubjectIds: spare.size > 0 ? [...spare] : undefined }
  const change = withCalls(record, caller, { ...offer, ...ended })
  await updateWithEvent(tx, issueCredential, record, { ...data, ...change })
}
