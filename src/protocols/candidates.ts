/** Finds the wallet's credentials that satisfy a presentation request (extension). */
import * as z from 'zod'
import { findMisfit, type Fit } from '../anoncreds/holder.ts'
import { Problem } from '../base/problem.ts'
import { checkOneSatisfied, satisfies } from '../credentials/constraints.ts'
import { findMissing } from '../credentials/sd-jwt/presentation.ts'
import { checkValidity } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import type { DcqlQuery } from '../dcql/query.ts'
import { getSigningKey } from '../did-registrar/keys.ts'
import { canonicalDid } from '../did/document.ts'
import type { Db } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getRecord } from './engine/find.ts'
import { CredentialFormat } from './formats.ts'
import { type DecodedCredential, issuanceFormats } from './issue-credential/format.ts'
import { CredentialData } from './issue-credential/model.ts'
import type { HeldCredential as HeldRow } from './present-proof/format.ts'
import { findDcqlMismatch, type HeldSelection, selectHeld } from './present-proof/dcql-selection.ts'
import { fitOf } from './present-proof/formats/anoncreds.ts'
import { findHolderKey } from './present-proof/formats/sd-jwt.ts'
import { presentProof, type PresentationRecord } from './present-proof/model.ts'

const Candidate = z
  .object({
    recordId: z.string().describe('The id to give in `proofId`.'),
    credentialFormat: CredentialFormat,
    issuer: z.string().describe('The issuer’s DID, short where it has a short form.'),
    schemas: z.array(z.string()).describe('The schemas of the credential; of an SDJWT its type.'),
    claims: z.array(z.string()).describe('The names of its claims.'),
    expired: z.boolean(),
    revoked: z.boolean().describe('As reported by the issuer.'),
    answers: z
      .object({ attributes: z.array(z.string()), predicates: z.array(z.string()) })
      .optional()
      .describe(
        'AnonCreds: the references in the request that the credential can answer. A candidate answers all, because a proof uses one credential.',
      ),
    reason: z.string().optional().describe('Why the verifier would not accept it.'),
  })
  .meta({ id: 'PresentationCandidate' })
type Candidate = z.infer<typeof Candidate>

export const PresentationCandidates = z
  .object({
    candidates: z
      .array(Candidate)
      .describe('The credentials of the wallet that satisfy the request, oldest first.'),
    others: z.array(Candidate).describe('The other credentials, each with the reason.'),
    lines: z
      .array(
        z.object({
          schemaId: z.string(),
          trustIssuers: z.array(z.string()),
          candidates: z.array(z.string()),
        }),
      )
      .describe(
        'The entries of `proofs`, which must all be satisfied, each with the record ids of its candidates. Empty for a request made with a policy, whose constraints are alternatives.',
      ),
    queries: z
      .array(z.object({ credentialId: z.string(), candidates: z.array(z.string()) }))
      .optional()
      .describe('A query in DCQL: its credential queries, each with the record ids of its candidates.'),
    choice: z
      .array(z.string())
      .optional()
      .describe(
        'The record ids to present. Absent if the request can be satisfied in several ways, or in none.',
      ),
  })
  .meta({ id: 'PresentationCandidates' })
export type PresentationCandidates = z.infer<typeof PresentationCandidates>

/** A stored credential. */
type Held = HeldRow & { format: CredentialFormat; isRevoked: boolean }

/**
 * Compares the wallet's credentials with a received request: format, schemas and issuers, claims of an SD-JWT, dates, the holder's key,
 * and reported revocation. Signatures were verified when the credentials were received. Status lists are not read.
 *
 * @throws {Problem} 404; 400 for a verifier's record
 */
export async function findCandidates(
  wallet: Wallet,
  presentationId: string,
): Promise<PresentationCandidates> {
  const record = await getRecord(wallet.db, presentProof, presentationId)
  if (record.role !== 'Prover') {
    const detail = `The record ${presentationId} has the role ${record.role}; only the prover chooses credentials.`
    throw new Problem(presentProof.problems.wrongState, detail)
  }
  const wholeWallet = await listHeld(wallet.db)
  const judged: Candidate[] = []
  for (const held of wholeWallet) judged.push(await judge(wallet, record, held))
  const candidates = judged.filter(({ reason }) => reason === undefined)
  const lines = (record.anyProof || record.credentialFormat === 'AnonCreds' ? [] : record.proofs).map(
    (line) => ({
      schemaId: line.schemaId,
      trustIssuers: line.trustIssuers ?? [],
      candidates: candidates
        .filter(({ schemas, issuer }) => satisfies({ schemas, issuerDid: issuer }, line))
        .map(({ recordId }) => recordId),
    }),
  )
  const selection = record.dcql && {
    ...record.dcql,
    ...selectHeld(
      record.dcql.query,
      wholeWallet.filter(({ id }) => candidates.some(({ recordId }) => recordId === id)),
    ),
  }
  const choice = selection ? findDcqlChoice(selection) : findChoice(candidates, lines)
  return {
    candidates,
    others: judged.filter(({ reason }) => reason !== undefined),
    lines,
    ...(selection && { queries: toQueries(selection) }),
    ...(choice && { choice }),
  }
}

/** The only way to satisfy a request: the only candidate, or the only candidates of their lines if they satisfy all lines. */
function findChoice(candidates: Candidate[], lines: PresentationCandidates['lines']): string[] | undefined {
  if (lines.length === 0) return candidates.length === 1 ? [candidates[0]!.recordId] : undefined
  const chosen = new Set(lines.flatMap((line) => (line.candidates.length === 1 ? line.candidates : [])))
  return lines.every((line) => line.candidates.some((id) => chosen.has(id))) ? [...chosen] : undefined
}

type DcqlSelection = HeldSelection & { query: DcqlQuery }

function toQueries({ query, candidates }: DcqlSelection): PresentationCandidates['queries'] {
  return query.credentials.map(({ id }) => ({
    credentialId: id,
    candidates: candidates[id]!.map(({ recordId }) => recordId),
  }))
}

/** The only way to answer a query: one candidate for each credential to be answered, or all with `multiple`. */
function findDcqlChoice({ query, candidates, answer }: DcqlSelection): string[] | undefined {
  const isOnly = (id: string) =>
    candidates[id]!.length === 1 || query.credentials.find((each) => each.id === id)!.multiple
  if (!answer?.every(isOnly)) return undefined
  return [...new Set(answer.flatMap((id) => candidates[id]!.map(({ recordId }) => recordId)))]
}

async function listHeld(db: Db): Promise<Held[]> {
  const rows = await db
    .selectFrom('credential')
    .innerJoin('record', 'record.id', 'credential.id')
    .selectAll('credential')
    .select('record.data')
    .orderBy('credential.created_at')
    .orderBy('credential.id')
    .execute()
  return rows.map(({ data, format, ...row }) => ({
    ...row,
    format: CredentialFormat.parse(format),
    isRevoked: CredentialData.shape.revocation.parse(JSON.parse(data).revocation) !== undefined,
  }))
}

async function judge(wallet: Wallet, record: PresentationRecord, held: Held): Promise<Candidate> {
  const { id: recordId, format: credentialFormat, issuer, isRevoked: revoked } = held
  const about = { recordId, credentialFormat, issuer: canonicalDid(issuer), revoked }
  const decoded = attempt(() => issuanceFormats[held.format].read(held.credential))
  if ('reason' in decoded)
    return { ...about, schemas: [], claims: [], expired: false, reason: decoded.reason }
  const { schemas, claims } = decoded.value
  const dates = attempt(() =>
    checkValidity(decoded.value, Math.floor(Date.now() / 1_000), wallet.env.config.CREDENTIAL_LEEWAY),
  )
  const expired = 'reason' in dates && dates.code === 'expired'
  const { reason = 'reason' in dates ? dates.reason : undefined, answers } = await findMismatch(
    wallet,
    record,
    held,
    decoded.value,
  )
  return {
    ...about,
    schemas,
    claims: Object.keys(claims),
    expired,
    ...(answers && { answers }),
    ...(reason !== undefined && { reason }),
  }
}

/** Why a credential does not satisfy the request, apart from its dates. For AnonCreds, also which references it answers. */
async function findMismatch(
  wallet: Wallet,
  record: PresentationRecord,
  held: Held,
  decoded: DecodedCredential,
): Promise<Pick<Candidate, 'reason' | 'answers'>> {
  const { credentialFormat: requested, proofs, claims = {}, dcql } = record
  const { format, credential, issuer: issuerDid, subject, isRevoked } = held
  if (dcql) {
    const reason = findDcqlMismatch(dcql.query, held)
    if (reason !== undefined) return { reason }
  } else if (format !== requested)
    return { reason: `It is a ${format} credential; the request is for ${requested}` }
  try {
    if (format === 'AnonCreds') return toAnswers(await fitOf(wallet, record, held))
    const constrained = attempt(() => checkOneSatisfied(proofs, { ...decoded, issuerDid }, 'The request'))
    if ('reason' in constrained) return { reason: constrained.reason }
    const missing = format === 'SDJWT' ? findMissing(credential, claims) : undefined
    if (missing !== undefined) return { reason: `It has no claim ${missing}, which is requested` }
    if (isRevoked) return { reason: 'The issuer has revoked it' }
    if (format === 'SDJWT') await findHolderKey(wallet, record, { sdJwt: credential, subject })
    else await getSigningKey(wallet, subject ?? '', 'authentication')
    return {}
  } catch (error) {
    if (error instanceof Problem) return { reason: error.message }
    throw error
  }
}

function toAnswers(fit: Fit): Pick<Candidate, 'reason' | 'answers'> {
  const answered = (each: Fit['attributes']) =>
    Object.keys(each).filter((reference) => each[reference] === undefined)
  const misfit = findMisfit(fit)
  const answers = { attributes: answered(fit.attributes), predicates: answered(fit.predicates) }
  return { answers, ...(misfit !== undefined && { reason: `It ${misfit}` }) }
}

/** The result of a check, or the reason why it failed. */
function attempt<Value>(check: () => Value): { value: Value } | { code: string; reason: string } {
  try {
    return { value: check() }
  } catch (error) {
    if (error instanceof VerificationError) return { code: error.code, reason: error.message }
    throw error
  }
}
