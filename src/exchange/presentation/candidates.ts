/** Finds the wallet's credentials that satisfy a presentation request (extension). */
import * as z from 'zod'
import { findMisfit, type Fit } from '../../credentials/anoncreds/holder.ts'
import { Problem } from '../../foundation/problem.ts'
import { checkOneSatisfied, satisfies } from '../../credentials/codecs/constraints.ts'
import { findMissing } from '../../credentials/codecs/sd-jwt/presentation.ts'
import { checkValidity } from '../../credentials/codecs/validity.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import type { Decoded } from '../../credentials/formats/format.ts'
import { isTokenFormat, traitsOf } from '../../definitions/format-names.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findInvalid } from '../held-credentials/standing.ts'
import { findDcqlCandidates } from './dcql-candidates.ts'
import { getRecord } from '../engine/find.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { type DecodedCredential, issuanceFormats } from '../issuance/format.ts'
import { fitOf } from './formats/anoncreds.ts'
import { requireHolderKey } from './formats/token.ts'
import { toInstant } from '../held-credentials/content.ts'
import { describeHeld, listHeldCredentials, type ListedCredential } from '../held-credentials/list.ts'
import { presentProof, type PresentationRecord } from './model.ts'
import { findDistrust } from './chosen-credentials.ts'

const Candidate = z
  .object({
    recordId: z.string().describe('The id to give in `proofId`.'),
    credentialFormat: CredentialFormat,
    issuer: z.string().describe('The issuer’s DID, short where it has a short form.'),
    schemas: z.array(z.string()).describe('The schemas of the credential; of an SDJWT its type.'),
    claims: z.array(z.string()).describe('The names of its claims.'),
    receivedAt: z.iso.datetime(),
    validUntil: z.iso.datetime().optional().describe('Absent if it does not expire.'),
    expired: z.boolean(),
    revoked: z.boolean().describe('As reported by the issuer. `reason` also has what its status list says.'),
    answers: z
      .object({ attributes: z.array(z.string()), predicates: z.array(z.string()) })
      .optional()
      .describe(
        'AnonCreds: the references in the request that the credential can answer. A candidate answers all, because a proof uses one credential.',
      ),
    discloses: z
      .array(z.object({ credentialId: z.string(), claims: z.array(z.string()) }))
      .optional()
      .describe(
        'A query in DCQL: the ids of the credential queries that it answers, each with the claims that would be disclosed beside those that the credential always shows. `*`: all claims.',
      ),
    reason: z.string().optional().describe('Why the verifier would not accept it.'),
  })
  .meta({ id: 'PresentationCandidate' })
type Candidate = z.infer<typeof Candidate>

export const PresentationCandidates = z
  .object({
    candidates: z
      .array(Candidate)
      .describe(
        'The credentials of the wallet that satisfy the request, newest first. None of them is revoked, suspended or expired, as far as its status list can be read.',
      ),
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
    choice: z
      .array(z.string())
      .optional()
      .describe(
        'The record ids to present. Absent if the request can be satisfied in several ways, or in none.',
      ),
    answer: z
      .array(z.object({ credentialId: z.string(), recordId: z.string() }))
      .optional()
      .describe(
        'A query in DCQL: the credentials that are presented over OpenID4VP if `proofId` names none, by the ids of the credential queries: the newest of the candidates. Absent if the request cannot be answered.',
      ),
  })
  .meta({ id: 'PresentationCandidates' })
export type PresentationCandidates = z.infer<typeof PresentationCandidates>

/**
 * Compares the wallet's credentials with a received request: format, schemas and issuers, claims of an
 * SD-JWT, dates, the holder's key, and reported revocation; then reads the status of those that fit.
 * Signatures were verified when the credentials were received.
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
  const query = record.dcql?.query ?? record.openid4vpRequest?.dcqlQuery
  if (query) return findDcqlCandidates(wallet, query, record.issuers)
  const judged = await judgeAll(wallet, record)
  const candidates = judged.filter(({ reason }) => reason === undefined)
  const hasLines = isTokenFormat(record.credentialFormat) && !record.anyProof
  const lines = (hasLines ? record.proofs : []).map((line) => ({
    schemaId: line.schemaId,
    trustIssuers: line.trustIssuers ?? [],
    candidates: candidates
      .filter(({ schemas, issuer }) => satisfies({ schemas, issuerDid: issuer }, line))
      .map(({ recordId }) => recordId),
  }))
  const choice = findChoice(candidates, lines)
  return {
    candidates,
    others: judged.filter(({ reason }) => reason !== undefined),
    lines,
    ...(choice && { choice }),
  }
}

async function judgeAll(wallet: Wallet, record: PresentationRecord): Promise<Candidate[]> {
  const judged: Candidate[] = []
  const fitting: ListedCredential[] = []
  for await (const held of listHeldCredentials(wallet.db)) {
    const candidate = await judge(wallet, record, held)
    judged.push(candidate)
    if (candidate.reason === undefined) fitting.push(held)
  }
  const invalid = await findInvalid(wallet, fitting)
  return judged.map((each) => {
    const reason = each.reason ?? invalid.get(each.recordId)
    return reason === undefined ? each : { ...each, reason }
  })
}

/**
 * The only way to satisfy a request: the only candidate, or the only candidates of their lines if they
 * satisfy all lines.
 */
function findChoice(candidates: Candidate[], lines: PresentationCandidates['lines']): string[] | undefined {
  if (lines.length === 0) return candidates.length === 1 ? [candidates[0]!.recordId] : undefined
  const chosen = new Set(lines.flatMap((line) => (line.candidates.length === 1 ? line.candidates : [])))
  return lines.every((line) => line.candidates.some((id) => chosen.has(id))) ? [...chosen] : undefined
}

async function judge(wallet: Wallet, record: PresentationRecord, held: ListedCredential): Promise<Candidate> {
  const about = describeHeld(held)
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
    validUntil: toInstant(decoded.value.validUntil),
    expired,
    ...(answers && { answers }),
    ...(reason !== undefined && { reason }),
  }
}

/**
 * Why a credential does not satisfy the request, apart from its dates. For AnonCreds, also which references
 * it answers.
 */
async function findMismatch(
  wallet: Wallet,
  record: PresentationRecord,
  held: ListedCredential,
  decoded: DecodedCredential,
): Promise<Pick<Candidate, 'reason' | 'answers'>> {
  const { credentialFormat: requested, proofs, claims = {} } = record
  const { format, issuer: issuerDid, isRevoked } = held
  if (format !== requested) return { reason: `It is a ${format} credential; the request is for ${requested}` }
  const distrust = findDistrust(record.issuers, issuerDid)
  if (distrust !== undefined) return { reason: distrust }
  try {
    if (!isTokenFormat(format)) return toAnswers(await fitOf(wallet, record, held))
    const constrained = attempt(() => checkOneSatisfied(proofs, { ...decoded, issuerDid }, 'The request'))
    if ('reason' in constrained) return { reason: constrained.reason }
    const { isSelective } = traitsOf(format)
    const missing = isSelective ? findMissing(decoded.claims, claims) : undefined
    if (missing !== undefined) return { reason: `It has no claim ${missing}, which is requested` }
    if (isRevoked) return { reason: 'The issuer has revoked it' }
    await requireHolderKey(wallet, format, { ...held, decoded: decoded as Decoded }, record)
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
