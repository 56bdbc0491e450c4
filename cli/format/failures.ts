/** Why records have failed, who says so, and what that means for the offer. */
import type { Answer } from '../client/api.ts'
import { inStyle, type Styled } from './colour.ts'
import { type Names, partnerInCredential, partnerInProof } from './parties.ts'
import { safeLine } from './text.ts'

type Proof = Answer<'GET /present-proof/presentations/{presentationId}'>
type Credential = Answer<'GET /issue-credentials/records/{recordId}'>
type Connection = Answer<'GET /connections/{connectionId}'>
type Failed = Pick<Credential, 'metaLastFailure'>

const otherSides: Readonly<Record<string, string>> = {
  Verifier: 'prover',
  Prover: 'verifier',
  Issuer: 'holder',
  Holder: 'issuer',
}

/**
 * The sender of the problem report that ended a record, such as `the verifier shop.example`. Undefined if
 * this side ended it.
 */
export function reporterOf(record: Proof | Credential, names: Names = new Map()): string | undefined {
  const state = 'status' in record ? record.status : record.protocolState
  if (state !== 'ProblemReportReceived') return undefined
  const { connectionId, role } = record
  const isNamed =
    connectionId === undefined ? role === 'Prover' || role === 'Holder' : names.has(connectionId)
  const partner = 'status' in record ? partnerInProof(record, names) : partnerInCredential(record, names)
  return ['the', otherSides[role], ...(isNamed && partner !== undefined ? [partner] : [])].join(' ')
}

/** Why a record has failed; `reporter` is who says so, if it is not this side. */
function failureText({ metaLastFailure: failure }: Failed, reporter: string | undefined): string | undefined {
  const text = failure && (failure.detail ?? failure.title)
  return text === undefined || reporter === undefined ? text : `${reporter} says: ${text}`
}

export function shownFailure(record: Failed, reporter?: string): Styled | undefined {
  const text = failureText(record, reporter)
  return text === undefined ? undefined : inStyle('bad', text)
}

/** Says that a failed acceptance has used its offer. */
export function usedOffer({ protocolState, openid4vci }: Credential): string | undefined {
  return protocolState === 'IssuanceFailed' && openid4vci?.grant === 'pre-authorized_code'
    ? 'used by this attempt; the issuer has to make a new one'
    : undefined
}

/** The lines of an error: why a record has failed. The fields of a record are cut to the width of a terminal. */
export function reasonOf(record: Connection | Proof | Credential, names: Names): string | undefined {
  const text = failureText(record, 'state' in record ? undefined : reporterOf(record, names))
  const used = 'protocolState' in record ? usedOffer(record) : undefined
  const lines = [text && safeLine(text), used && `The offer was ${used}.`].filter(
    (line) => line !== undefined,
  )
  return lines.length === 0 ? undefined : lines.join('\n  ')
}
