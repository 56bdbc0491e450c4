/** The decoded credential of a record, and whether it is valid (extension). */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import { RevocationStatus } from '../../wallet/credential-status/check.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { readStanding } from './standing.ts'
import { getRecord } from '../engine/find.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { type DecodedCredential, issuanceFormats } from '../issuance/format.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'

export const CredentialContent = z
  .object({
    recordId: z.guid(),
    credentialFormat: CredentialFormat,
    issuer: z.string().describe('The issuer’s DID; for AnonCreds the one in the credential definition.'),
    subject: z.string().optional(),
    claims: z
      .record(z.string(), JsonValue)
      .describe('The claims about the subject; for SDJWT including all disclosures.'),
    disclosable: z
      .array(z.array(z.string()))
      .optional()
      .describe(
        'SDJWT: the paths of the claims that the holder can disclose selectively, as names and array indexes.',
      ),
    bound: z.boolean().optional().describe('SDJWT: whether only the holder’s key can present it.'),
    schemas: z.array(z.string()).describe('The schemas of the credential; for SDJWT its type (`vct`).'),
    definition: z.string().optional().describe('AnonCreds: the URL of the credential definition.'),
    validFrom: z.iso.datetime().optional(),
    validUntil: z.iso.datetime().optional(),
    standing: RevocationStatus,
    header: z.record(z.string(), z.unknown()).optional().describe('The header of the JWT.'),
    payload: z.record(z.string(), z.unknown()).optional().describe('The signed payload of the JWT.'),
  })
  .meta({ id: 'CredentialContent' })
export type CredentialContent = z.infer<typeof CredentialContent>

/**
 * Decodes the credential of an issuer's or a holder's record, and reads its status list.
 *
 * @throws {Problem} 404; 400 without a credential; 422 if it is malformed
 */
export async function readContent(wallet: Wallet, recordId: string): Promise<CredentialContent> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const decoded = decode(record)
  const { issuerDid = await findIssuer(wallet.db, record), statuses } = decoded
  return {
    recordId,
    credentialFormat: record.credentialFormat,
    issuer: issuerDid,
    subject: decoded.subjectDid,
    claims: decoded.claims as CredentialContent['claims'],
    disclosable: decoded.disclosures?.map(({ path }) => path),
    bound: decoded.disclosures && decoded.isBound,
    schemas: decoded.schemas,
    definition: decoded.definition,
    validFrom: toInstant(decoded.validFrom),
    validUntil: toInstant(decoded.validUntil),
    standing: await readStanding(wallet, recordId, { ...decoded, statuses, issuerDid }),
    header: decoded.signed?.header,
    payload: decoded.signed?.payload,
  }
}

function decode({ id, state, credentialFormat, credential }: CredentialRecord): DecodedCredential {
  if (credential === undefined)
    throw new Problem(
      issueCredential.problems.wrongState,
      `The record ${id} is in state ${state} and has no credential yet.`,
    )
  try {
    return issuanceFormats[credentialFormat].read(credential)
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause
    throw new Problem(
      'UnprocessableEntity',
      `The credential of the record ${id} cannot be read: ${cause.message}`,
      { cause },
    )
  }
}

/**
 * The issuer of an AnonCreds credential, which does not name it: this wallet, or the issuer in the definition
 * when it was received.
 */
async function findIssuer(db: Db, { id, issuingDID }: CredentialRecord): Promise<string> {
  if (issuingDID !== undefined) return issuingDID
  const { issuer } = await db
    .selectFrom('credential')
    .select('issuer')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return issuer
}

/** Epoch seconds of the years 0 to 9999, the range of RFC 3339. */
const [firstSecond, lastSecond] = [-62_167_219_200, 253_402_300_799]

/** Epoch seconds as an RFC 3339 date, clamped to its range. */
export function toInstant(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined
  return new Date(Math.min(Math.max(seconds, firstSecond), lastSecond) * 1_000).toISOString()
}
