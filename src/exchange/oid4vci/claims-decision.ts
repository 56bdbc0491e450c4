/** What the answer of a claims source means for the request of a wallet, and when the source is asked again. */
import { Problem } from '../../foundation/problem.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import type { SourceProgress } from '../issuance/requested.ts'
import { longestWaitSeconds, type SourceAnswer } from './claims-source.ts'
import type { Sourced } from './sourced.ts'

/** What becomes of the request of a wallet. `failure` is for the record, and not for the wallet. */
export type Decision =
  | { kind: 'claims'; sourced: Sourced }
  | { kind: 'refused'; failure: Failure }
  /** The wallet has to request the credential again. */
  | { kind: 'failed'; failure: Failure; seconds: number }
  | { kind: 'deferred'; change: { claimsSource: SourceProgress; metaLastFailure: Failure | undefined } }

/** Why a decision gives no claims. Undefined: the source only takes its time. */
export function failureOf(decision: Exclude<Decision, { kind: 'claims' }>): Failure | undefined {
  return decision.kind === 'deferred' ? decision.change.metaLastFailure : decision.failure
}

export type Failure = { status: number; type: string; title: string; detail: string }

/** The shortest and the longest pause after a request without an answer, in minutes. */
const [firstPauseMinutes, longestPauseMinutes] = [1, 60]

/** When a wallet asks again whose issuer does not defer, unless the source names a time, in seconds. */
const retrySeconds = 60

/** How long a renewal waits for the repair of a source that answers, but cannot be used, in milliseconds. */
const repairMs = 300_000

/** How far the source is with what the wallet of a record waits for. */
export function progressOf({ state, renewing, claimsSource }: CredentialRecord): SourceProgress | undefined {
  return state === 'CredentialSent' ? renewing?.progress : claimsSource
}

/** A wallet whose issuer does not defer has to request the credential again. */
export function noClaimsNow(retryAfter: number): Problem {
  const detail = 'The issuer does not have the claims of the credential for now. Request it again.'
  return new Problem('error:ServiceUnavailable', detail, { retryAfter })
}

/** The decision of an answer without claims. `fails`: the wallet is not deferred. */
export function toDecision(
  record: CredentialRecord,
  answer: Exclude<SourceAnswer, { kind: 'claims' }>,
  { fails, retryFor }: { fails: boolean; retryFor: number },
): Decision {
  const now = Date.now()
  const { since = now, failure = { since: now, count: 0 } } = progressOf(record) ?? {}
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
export function waitForTenant(record: CredentialRecord, { detail, ...failure }: Failure): Decision {
  const now = Date.now()
  const { since = now } = progressOf(record) ?? {}
  const isRenewal = record.state === 'CredentialSent'
  const way = isRenewal
    ? 'The wallet asks again.'
    : `Then ask again: agent credential issue ${record.id}, or give the claims: --claims @claims.json.`
  return {
    kind: 'deferred',
    change: {
      claimsSource: { since, ...(isRenewal && { askAtMs: now + repairMs }) },
      metaLastFailure: { ...failure, detail: `${detail} ${way}` },
    },
  }
}

const refused = (detail: string): Failure => ({
  status: 403,
  type: 'ClaimsRefused',
  title: 'Claims Refused',
  detail,
})
export const unusable = (detail: string): Failure => ({
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
