/**
 * Decisions about claims in records: those that defer or refuse the request of a wallet, and those about a
 * request that was deferred, by the claims source or by the tenant.
 */
import { toSteady } from '../../foundation/clock.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { cancelQueue } from '../../wallet/outbox/job.ts'
import { writeIfRoom } from '../../wallet/quotas.ts'
import { LaterError, type Task, type Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { advance, queueOf, updateData, updateWithEvent } from '../engine/record.ts'
import { issueCredentialOf } from '../issuance/issuer.ts'
import { type CredentialData, type CredentialRecord, issueCredential } from '../issuance/model.ts'
import type { SourceProgress } from '../issuance/requested.ts'
import type { Decision, Failure } from './claims-decision.ts'
import { mergeClaims, originsOf } from './claims-origins.ts'
import { findUnwanted } from './claims-source.ts'
import { findPerson, knownClaims } from './person-claims.ts'
import { sealSourced } from './sourced.ts'
import { askForClaims, findFault, findSource, type Source } from './sourced-claims.ts'

/** Makes the transition of a first decision that gives no claims. */
export function beginDecided(
  tx: Tx,
  record: CredentialRecord,
  decision: Extract<Decision, { kind: 'refused' | 'deferred' }>,
  requested: Partial<CredentialRecord>,
): Promise<CredentialRecord> {
  if (decision.kind === 'refused')
    return advance(tx, issueCredential, record, 'refused by the source', {
      metaLastFailure: decision.failure,
    })
  const { change } = decision
  const on = isAskedAgain(change) ? 'deferred by the source' : 'received credential request for review'
  return advance(tx, issueCredential, record, on, { ...requested, ...change })
}

const isAskedAgain = ({ claimsSource }: { claimsSource: SourceProgress }) =>
  claimsSource.askAtMs !== undefined

/** Asks the source of a deferred request again, not before the time that it named. */
export const requestClaims: Task = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const { askAtMs } = record.claimsSource ?? {}
  if (record.state !== 'RequestDeferred' || askAtMs === undefined) return () => Promise.resolve()
  if (Date.now() < askAtMs) throw new LaterError(new Date(toSteady(askAtMs)))
  const decision = await askForClaims(wallet, record, await findSource(wallet, record))
  return async (tx) => decision && storeDecision(tx, wallet, recordId, decision)
}

/** Stores a decision about a deferred request, unless there is one already. */
async function storeDecision(
  tx: Tx,
  wallet: Wallet,
  id: string,
  decision: Decision,
): Promise<CredentialRecord> {
  const record = await getRecord(tx, issueCredential, id)
  if (record.state !== 'RequestDeferred') return record
  await cancelQueue(tx, queueOf(id))
  switch (decision.kind) {
    case 'claims': {
      const { digest } = decision.sourced
      const claimsSource = { sealed: sealSourced(wallet, id, decision.sourced), digest }
      return advance(tx, issueCredential, record, 'received claims', {
        claimsSource,
        metaLastFailure: undefined,
      })
    }
    case 'refused':
      return advance(tx, issueCredential, record, 'refused by the source', {
        metaLastFailure: decision.failure,
      })
    case 'failed':
      throw new Error('a deferred request cannot fail')
    case 'deferred': {
      const { change } = decision
      if (isAskedAgain(change)) return advance(tx, issueCredential, record, 'deferred by the source', change)
      await updateWithEvent(tx, issueCredential, record, change)
      return { ...record, ...change }
    }
  }
}

/** Stores why a wallet has to request the credential again. */
export function noteFailure(wallet: Wallet, id: string, metaLastFailure: Failure | undefined): Promise<void> {
  return writeIfRoom(wallet, async (tx) => {
    const record = await getRecord(tx, issueCredential, id)
    if (['OfferRedeemed', 'CredentialSent'].includes(record.state))
      await updateData(tx, record, { metaLastFailure, renewing: undefined })
  })
}

/**
 * Issues the credential of a deferred request: with the claims that the tenant gives, else with those of the
 * source, which is asked at once. A second call changes nothing.
 *
 * @throws {Problem} in another state; 400 for claims that the credential cannot have
 */
export async function issueRequested(
  wallet: Wallet,
  record: CredentialRecord,
  given: CredentialData['claims'] | undefined,
): Promise<CredentialRecord> {
  if (record.state !== 'RequestDeferred') return issueCredentialOf(wallet, record.id)
  const source = await findSource(wallet, record)
  const decision = given
    ? await takeClaims(wallet, record, given, source)
    : await askForClaims(wallet, record, source)
  if (!decision) return issueCredentialOf(wallet, record.id)
  return wallet.transaction((tx) => storeDecision(tx, wallet, record.id, decision))
}

/** Claims of the tenant, in place of those of the source. @throws {Problem} 400 */
async function takeClaims(
  wallet: Wallet,
  record: CredentialRecord,
  given: CredentialData['claims'],
  source: Source | undefined,
): Promise<Decision> {
  if (!source && record.openid4vci?.isPartial !== true) throw claimsOfOffer()
  const person = await findPerson(wallet, record)
  const { known, wanted } = source
    ? originsOf(source.configuration, { offered: record.claims, ...person })
    : { known: await knownClaims(wallet, record, person), wanted: undefined }
  const paths = wanted?.map(({ path }) => path)
  const unwanted = paths && findUnwanted(given, paths)
  if (unwanted)
    throw new Problem(
      'BadRequest',
      `claims.${unwanted.join('.')}: the offer, the log-in or the presentation has it already, or the schema does not. Leave it out.`,
    )
  const sourced = { claims: mergeClaims(known, given), keeps: source?.keepClaims ?? true }
  const fault = await findFault(wallet, record, sourced)
  if (fault) throw fault
  return { kind: 'claims', sourced }
}

/** The credential has the claims of its offer. */
export function claimsOfOffer(): Problem {
  return new Problem('BadRequest', 'claims: the credential has the claims of its offer. Leave them out.')
}
