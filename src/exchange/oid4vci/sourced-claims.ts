/**
 * Claims from the source of a configuration: what its answers change in a record whose wallet has requested
 * the credential. The source is asked again at the times that it names, or when the tenant says so.
 */
import { toSteady } from '../../foundation/clock.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { cancelQueue } from '../../wallet/outbox/job.ts'
import { LaterError, type Task, type Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { advance, queueOf, updateWithEvent } from '../engine/record.ts'
import { type CredentialRecord, issueCredential, type SourceProgress } from '../issuance/model.ts'
import { checkContent, termsOf } from '../issuance/sign.ts'
import { mergeClaims, originsOf } from './claims-origins.ts'
import { claimsSecretsOf } from './claims-secret.ts'
import { askSource, longestWaitSeconds, type SourceAnswer, sourceOf } from './claims-source.ts'
import { findConfiguration } from './configurations.ts'
import { getIssuer } from './issuers.ts'
import { type Sourced, sealSourced } from './sourced.ts'

/** What becomes of the request of a wallet. `failure` is for the record, and not for the wallet. */
export type Decision =
  | { kind: 'claims'; sourced: Sourced }
  | { kind: 'refused'; failure: Failure }
  /** The wallet has to request the credential again. */
  | { kind: 'failed'; failure: Failure; seconds: number }
  | { kind: 'deferred'; change: { claimsSource: SourceProgress; metaLastFailure: Failure | undefined } }

type Failure = { status: number; type: string; title: string; detail: string }

/** The shortest and the longest pause after a request without an answer, in minutes. */
const [firstPauseMinutes, longestPauseMinutes] = [1, 60]

/** When a wallet asks again whose issuer does not defer, unless the source names a time, in seconds. */
const retrySeconds = 60

/**
 * Asks the claims source of a record. Undefined: its configuration has none. `canFail`: the wallet waits for
 * the decision.
 *
 * @throws {Problem} 503 if the schema cannot be read for now
 */
export async function askForClaims(
  wallet: Wallet,
  record: CredentialRecord,
  { canFail }: { canFail: boolean },
): Promise<Decision | undefined> {
  const { env } = wallet
  const { issuerId, configurationId } = record.openid4vci!
  const configuration = await findConfiguration(env.db, issuerId, configurationId)
  const source = configuration && sourceOf(configuration)
  if (!source) return undefined
  const secrets = claimsSecretsOf(wallet, await getIssuer(env.db, issuerId))
  if (!secrets) throw new Error(`the issuer ${issuerId} has a claims source, and no secret for it`)
  const { known, wanted } = originsOf(configuration, { offered: record.claims })
  const answer = await askSource(env, {
    source,
    secrets,
    id: record.id,
    request: {
      issuerId,
      recordId: record.id,
      configurationId,
      credentialIdentifier: record.id,
      purpose: 'issue',
      offered: record.claims,
      wanted,
      wallet: { attested: false },
    },
  })
  env.log.info({ walletId: wallet.id, recordId: record.id, answer: answer.kind }, 'a claims source was asked')
  if (answer.kind !== 'claims')
    return toDecision(record, answer, {
      fails: canFail && source.onFailure === 'fail',
      retrySeconds: env.config.OID4VCI_CLAIMS_RETRY_FOR,
    })
  const { claims, validitySeconds, digest } = answer
  const sourced = {
    claims: mergeClaims(known, claims),
    ...(validitySeconds !== undefined && { validityPeriod: validitySeconds }),
    keeps: source.keepClaims,
    digest,
  }
  const fault = await findFault(wallet, record, sourced)
  return fault ? waitForTenant(record, unusable(fault.message)) : { kind: 'claims', sourced }
}

/** Why claims cannot be issued. */
async function findFault(
  wallet: Wallet,
  record: CredentialRecord,
  { claims, validityPeriod = record.validityPeriod }: Pick<Sourced, 'claims' | 'validityPeriod'>,
): Promise<Problem | undefined> {
  try {
    await checkContent(wallet, { ...termsOf(record), claims, validityPeriod })
    return undefined
  } catch (error) {
    if (error instanceof Problem && !isTemporary(error)) return error
    throw error
  }
}

function toDecision(
  record: CredentialRecord,
  answer: Exclude<SourceAnswer, { kind: 'claims' }>,
  { fails, retrySeconds: retryFor }: { fails: boolean; retrySeconds: number },
): Decision {
  const now = Date.now()
  const { since = now, failure = { since: now, count: 0 } } = record.claimsSource ?? {}
  switch (answer.kind) {
    case 'refused':
      return { kind: 'refused', failure: refused(answer.reason) }
    case 'unusable':
      return waitForTenant(record, unusable(answer.reason))
    case 'later':
      return askAgain(record, { since, askAtMs: now + answer.seconds * 1_000 }, undefined)
    case 'unavailable': {
      const detail = unavailable(answer.reason)
      if (fails) return { kind: 'failed', failure: detail, seconds: answer.seconds || retrySeconds }
      const minutes = Math.min(longestPauseMinutes, firstPauseMinutes * 2 ** failure.count)
      const pauseMs = Math.max(minutes * 60, answer.seconds) * 1_000
      const next = { since, failure: { ...failure, count: failure.count + 1 } }
      return now + pauseMs > failure.since + retryFor * 1_000
        ? waitForTenant(record, detail)
        : askAgain(record, { ...next, askAtMs: now + pauseMs }, detail)
    }
  }
}

/** Defers the decision to a time, but not for longer than a wallet can wait. */
function askAgain(
  record: CredentialRecord,
  progress: SourceProgress & { since: number; askAtMs: number },
  metaLastFailure: Failure | undefined,
): Decision {
  const endsMs = progress.since + longestWaitSeconds * 1_000
  if (progress.askAtMs > endsMs && Date.now() >= endsMs)
    return waitForTenant(record, metaLastFailure ?? unavailable('The claims source has not decided.'))
  const askAtMs = Math.min(progress.askAtMs, endsMs)
  return { kind: 'deferred', change: { claimsSource: { ...progress, askAtMs }, metaLastFailure } }
}

/** Defers the decision until the tenant has repaired the source, and issues the credential. */
function waitForTenant({ id, claimsSource }: CredentialRecord, { detail, ...failure }: Failure): Decision {
  const { since = Date.now() } = claimsSource ?? {}
  const way = `It is asked again by: agent credential issue ${id}`
  return {
    kind: 'deferred',
    change: { claimsSource: { since }, metaLastFailure: { ...failure, detail: `${detail} ${way}` } },
  }
}

const refused = (detail: string): Failure => ({
  status: 403,
  type: 'ClaimsRefused',
  title: 'Claims Refused',
  detail,
})
const unusable = (detail: string): Failure => ({
  status: 502,
  type: 'ClaimsUnusable',
  title: 'Claims Unusable',
  detail,
})
const unavailable = (detail: string): Failure => ({
  status: 503,
  type: 'ClaimsSourceUnavailable',
  title: 'Claims Source Unavailable',
  detail,
})

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
  const decision = await askForClaims(wallet, record, { canFail: false })
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
