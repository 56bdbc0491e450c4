/** Which of the wallet's credentials answer a request for a proof (ours): told before anything is promised. */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { decodeJwtVc } from '../credentials/credential.ts'
import { checkConstraints } from '../credentials/jwt-vp.ts'
import { findMissing } from '../credentials/sd-jwt/presentation.ts'
import { decodeSdJwt } from '../credentials/sd-jwt/sd-jwt.ts'
import { checkValidity, type Validity } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { getSigningKey } from '../did-registrar/keys.ts'
import { canonicalDid } from '../did/document.ts'
import type { Db } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getRecord } from './find.ts'
import { CredentialFormat } from './formats.ts'
import { CredentialData } from './issue-credential/model.ts'
import { presentProof, type PresentationRecord } from './present-proof/model.ts'
import { findHolderKey } from './present-proof/present.ts'

const Candidate = z
  .object({
    recordId: z.string().describe('What `proofId` names.'),
    credentialFormat: CredentialFormat,
    issuer: z.string().describe('The issuer’s DID, short where it has a short form.'),
    schemas: z.array(z.string()).describe('The schemas that the credential names; of an SDJWT its type.'),
    claims: z.array(z.string()).describe('The names of its claims.'),
    expired: z.boolean(),
    revoked: z.boolean().describe('The issuer said so.'),
    reason: z.string().optional().describe('Why the verifier would not take it.'),
  })
  .meta({ id: 'PresentationCandidate' })
type Candidate = z.infer<typeof Candidate>

export const PresentationCandidates = z
  .object({
    candidates: z.array(Candidate).describe('The credentials of the wallet that answer the request, oldest first.'),
    others: z.array(Candidate).describe('Those that do not, with the reason.'),
  })
  .meta({ id: 'PresentationCandidates' })
export type PresentationCandidates = z.infer<typeof PresentationCandidates>

/** A credential as the wallet keeps it. */
type Held = { id: string; format: CredentialFormat; credential: string; issuer: string; subject: string; isRevoked: boolean }

/** What a credential says of itself, whatever its format. */
type Said = Validity & { issuerDid: string; schemas: string[]; claims: string[] }

/**
 * Compares the wallet's credentials with a request that it received: format, schemas and issuers, claims of an SD-JWT, dates, the holder's
 * key, and whether the issuer told of a revocation. Signatures were verified when the credentials came; status lists are the verifier's to ask.
 *
 * @throws {Problem} 404 when there is no such record, 400 when it is a verifier's.
 */
export async function findCandidates(wallet: Wallet, presentationId: string): Promise<PresentationCandidates> {
  const record = await getRecord(wallet.db, presentProof, presentationId)
  if (record.role !== 'Prover') {
    const detail = `The record ${presentationId} is of the role ${record.role}: only its prover has credentials to choose from.`
    throw new Problem(presentProof.problems.wrongState, detail)
  }
  const judged: Candidate[] = []
  for (const held of await listHeld(wallet.db)) judged.push(await judge(wallet, record, held))
  return { candidates: judged.filter(({ reason }) => reason === undefined), others: judged.filter(({ reason }) => reason !== undefined) }
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
  const said = whyNot(() => read(held))
  if ('reason' in said) return { ...about, schemas: [], claims: [], expired: false, reason: said.reason }
  const { schemas, claims } = said.value
  const dates = whyNot(() => checkValidity(said.value, Math.floor(Date.now() / 1_000), wallet.env.config.CREDENTIAL_LEEWAY))
  const expired = 'reason' in dates && dates.code === 'expired'
  const reason = (await findMismatch(wallet, record, held, said.value)) ?? ('reason' in dates ? dates.reason : undefined)
  return { ...about, schemas, claims, expired, ...(reason !== undefined && { reason }) }
}

function read({ format, credential }: Held): Said {
  if (format === 'SDJWT') {
    const { vct, claims, ...rest } = decodeSdJwt(credential)
    return { ...rest, schemas: vct === undefined ? [] : [vct], claims: Object.keys(claims) }
  }
  const { claims, ...rest } = decodeJwtVc(credential)
  return { ...rest, claims: Object.keys(claims).filter((name) => name !== 'id') }
}

/** Why a credential does not answer the request, but for its dates. */
async function findMismatch(wallet: Wallet, record: PresentationRecord, held: Held, said: Said): Promise<string | undefined> {
  const { credentialFormat: asked, proofs, claims = {} } = record
  const { format, credential: sdJwt, subject, isRevoked } = held
  if (format !== asked) return `It is a ${format}, and the request is for ${asked}`
  const constrained = whyNot(() => checkConstraints(said, proofs))
  if ('reason' in constrained) return constrained.reason
  const missing = format === 'SDJWT' ? findMissing(sdJwt, claims) : undefined
  if (missing !== undefined) return `It has no claim ${missing}, which is asked for`
  if (isRevoked) return 'The issuer said that it is revoked'
  try {
    if (format === 'SDJWT') await findHolderKey(wallet, record, { sdJwt, subject })
    else await getSigningKey(wallet, subject, 'authentication')
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

/** What a check returns, or the reason for which it refused. */
function whyNot<Value>(check: () => Value): { value: Value } | { code: string; reason: string } {
  try {
    return { value: check() }
  } catch (error) {
    if (error instanceof VerificationError) return { code: error.code, reason: error.message }
    throw error
  }
}
