/**
 * Finds the wallet's credentials that answer a received query in DCQL, and the claims that each would
 * disclose.
 */
import type { Decoded } from '../../credentials/formats/format.ts'
import { createCheckpoint } from '../../foundation/checkpoint.ts'
import { describePath } from '../../credentials/dcql/match.ts'
import { selectDisclosures } from '../../credentials/dcql/path.ts'
import type { ClaimsPath, CredentialQuery, DcqlQuery } from '../../credentials/dcql/query.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { PresentationCandidates } from './candidates.ts'
import {
  compareCredentials,
  findAnswer,
  mismatchOf,
  type Presentable,
  type Unpresentable,
  withoutInvalid,
} from './dcql-answer.ts'
import { toInstant } from '../held-credentials/content.ts'
import { describeHeld } from '../held-credentials/list.ts'
import type { PresentationRecord } from './model.ts'

type Candidate = PresentationCandidates['candidates'][number]

/**
 * `choice` is there if each requested credential has only one candidate; `answer` is that of a call that
 * names no credentials.
 */
export async function findDcqlCandidates(
  wallet: Wallet,
  query: DcqlQuery,
  issuers?: PresentationRecord['issuers'],
): Promise<PresentationCandidates> {
  const compared = await compareCredentials(wallet, query, issuers)
  const { presentable, others } = await withoutInvalid(wallet, compared)
  const judged: Candidate[] = []
  const checkpoint = createCheckpoint()
  for (const each of presentable) {
    await checkpoint()
    judged.push(judge(query, each))
  }
  const candidates = judged.filter(({ reason }) => reason === undefined)
  const answer = findAnswer(query, presentable)
  const answered = query.credentials.filter(({ id }) => answer?.some((part) => part.credentialId === id))
  const lines = (answer ? answered : query.credentials).map((asked) => ({
    schemaId: typesOf(asked) || asked.id,
    trustIssuers: [],
    candidates: candidates
      .filter(({ discloses }) => discloses!.some(({ credentialId }) => credentialId === asked.id))
      .map(({ recordId }) => recordId),
  }))
  const isOnlyOne = answer !== undefined && lines.every((line) => line.candidates.length === 1)
  return {
    candidates,
    others: [...judged.filter(({ reason }) => reason !== undefined), ...others.map(toOther)],
    lines,
    ...(isOnlyOne && { choice: [...new Set(answer.map(({ recordId }) => recordId))] }),
    ...(answer && { answer: answer.map(({ credentialId, recordId }) => ({ credentialId, recordId })) }),
  }
}

function typesOf({ meta }: CredentialQuery): string {
  return (meta.vct_values ?? meta.type_values?.map((types) => types.join(' ')) ?? []).join(' or ')
}

function judge(query: DcqlQuery, { held, decoded, results }: Presentable): Candidate {
  const discloses = query.credentials.flatMap(({ id }, position) => {
    const match = results[position]!
    if (!match.isMatch) return []
    return [{ credentialId: id, claims: disclosedBy(decoded, match.paths ?? []) }]
  })
  const { types, claims } = decoded
  return {
    ...describeHeld(held),
    validUntil: toInstant(decoded.validUntil),
    expired: false,
    schemas: [...types],
    claims: Object.keys(claims),
    discloses,
    ...(discloses.length === 0 && { reason: mismatchOf(query, results) }),
  }
}

/** The claims that disclosures show. A credential without them shows all. */
function disclosedBy({ disclosures }: Decoded, paths: readonly ClaimsPath[]): string[] {
  return disclosures ? selectDisclosures(disclosures, paths).map(({ path }) => describePath(path)) : ['*']
}

function toOther({ held, reason, isExpired }: Unpresentable): Candidate {
  return { ...describeHeld(held), schemas: [], claims: [], expired: isExpired, reason }
}
