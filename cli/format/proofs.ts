/** Formats presentation records: the request, who presented what, by whom it is issued, and the checks. */
import type { Answer } from '../client/api.ts'
import { inStyle, type Styled } from './colour.ts'
import { claimPairs } from './credential.ts'
import { verifierFields } from './dcql.ts'
import { reporterOf, shownFailure } from './failures.ts'
import { type Names, partnerInProof } from './parties.ts'
import { proofRequestFields } from './proof-request.ts'
import { expiryField } from './records.ts'
import { explain, listedState, shownState } from './states.ts'
import { whenAgo } from './time.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'

export type PresentationRecord = Answer<'GET /present-proof/presentations/{presentationId}'>
type Pair = readonly [name: string, value: unknown]

/** `names`: those of connections, if they are known. */
export function presentationFields(record: PresentationRecord, names?: Names): Pair[] {
  return [
    ['proof', record.presentationId],
    ['role', record.role],
    ['state', shownProofState(record)],
    ['expires', record.openid4vpRequest ? undefined : expiryField(record)],
    // Records of earlier releases have the claims alone.
    ...(record.verification?.credentials?.flatMap(presentedFields) ??
      claimPairs(record.disclosedClaims ?? {}, 'shown ')),
    [record.role === 'Prover' ? 'asked by' : 'asked of', partnerField(record, names)],
    ['connection', record.connectionId],
    ['goal', record.goal],
    ...verifierFields(record),
    ...proofRequestFields(record),
    ['policy', record.policyId],
    [
      'presented',
      record.data.length === 0
        ? undefined
        : `${record.data.length} presentation${record.data.length === 1 ? '' : 's'}`,
    ],
    ...checkFields(record.verification?.checks ?? []),
    ['issuer check', record.verification && issuerCheckOf(record.verification)],
    ['thread', record.thid],
    ['created', whenAgo(record.createdAt, Date.now())],
    ['updated', record.updatedAt && whenAgo(record.updatedAt, Date.now())],
    ['last failure', shownFailure(record, reporterOf(record, names))],
  ]
}

/** Undefined where `verifierFields` says more, or the name of the connection is not known. */
function partnerField(record: PresentationRecord, names: Names | undefined): string | undefined {
  if (record.openid4vpRequest || (record.connectionId !== undefined && !names)) return undefined
  return partnerInProof(record, names ?? new Map())
}

type Verification = NonNullable<PresentationRecord['verification']>

/** The lines of a presented credential: its holder, its claims and its issuer. */
function presentedFields({
  holder,
  subject,
  claims,
  issuer,
  types,
}: NonNullable<Verification['credentials']>[number]): Pair[] {
  return [
    ['presented by', canonicalDid(holder ?? subject ?? '') || undefined],
    ...claimPairs(claims, 'shown '),
    ['issuer', canonicalDid(issuer)],
    ['type', types.join(' ') || undefined],
  ]
}

function issuerCheckOf({ issuersChecked }: Verification): Styled | string {
  return issuersChecked
    ? 'only issuers that the request accepts'
    : inStyle('waiting', 'none: the request accepts credentials of any issuer')
}

/** True if a presentation is valid, and nothing says who may have issued its credentials. */
export function isUnchecked({ status, verification }: PresentationRecord): boolean {
  return (
    ['PresentationVerified', 'PresentationAccepted'].includes(status) &&
    verification?.issuersChecked === false
  )
}

export function shortProofState(record: PresentationRecord): Styled {
  return isUnchecked(record)
    ? inStyle('waiting', `${record.status}, any issuer`)
    : listedState('proof', record.status, record)
}

function shownProofState(record: PresentationRecord): Styled {
  return isUnchecked(record)
    ? inStyle('waiting', explain('proof', record.status).replace(/\)$/, ', issuer not checked)'))
    : shownState('proof', record.status, record)
}

type Check = NonNullable<Verification['checks']>[number]

/** The checks of a presentation by their names, and the reasons of those that have failed. */
function checkFields(checks: readonly Check[]): Pair[] {
  const named = (result: Check['result']) =>
    [...new Set(checks.flatMap((check) => (check.result === result ? [check.name] : [])))].join(', ')
  const failed = checks.filter(({ result }) => result === 'failed')
  return [
    ['passed', named('passed') || undefined],
    ...failed.map(({ name, reason }): Pair => ['failed', inStyle('bad', `${name}: ${reason ?? ''}`)]),
    ['not checked', named('skipped') || undefined],
  ]
}
