/** What the credential of a record says, decoded, and whether it still stands (ours). */
import { z } from 'zod'
import { JsonValue } from '../../base/json.ts'
import { Problem } from '../../base/problem.ts'
import { findRevocationStatus, RevocationStatus } from '../../credential-status/check.ts'
import { VerificationError } from '../../credentials/verification-error.ts'
import type { Db } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { CredentialFormat } from '../formats.ts'
import { present } from '../model.ts'
import { type Content, issuanceFormats } from './format.ts'
import { issueCredential, type CredentialRecord } from './model.ts'

export const CredentialContent = z
  .object({
    recordId: z.guid(),
    credentialFormat: CredentialFormat,
    issuer: z.string().describe('The issuer’s DID; of AnonCreds, as its definition says.'),
    subject: z.string().optional(),
    claims: z
      .record(z.string(), JsonValue)
      .describe('The claims about the subject; of an SDJWT with all that its disclosures show.'),
    disclosable: z
      .array(z.array(z.string()))
      .optional()
      .describe(
        'SDJWT: the claims that its holder can show or keep back, as names and positions from the outside in.',
      ),
    bound: z.boolean().optional().describe('SDJWT: whether only the holder’s key can present it.'),
    schemas: z.array(z.string()).describe('The schemas that it names; of an SDJWT its type.'),
    definition: z.string().optional().describe('AnonCreds: the URL of its credential definition.'),
    validFrom: z.iso.datetime().optional(),
    validUntil: z.iso.datetime().optional(),
    standing: RevocationStatus,
    header: z.record(z.string(), z.unknown()).optional().describe('The header of the JWT.'),
    payload: z.record(z.string(), z.unknown()).optional().describe('The payload of the JWT as it is signed.'),
  })
  .meta({ id: 'CredentialContent' })
export type CredentialContent = z.infer<typeof CredentialContent>

/**
 * Decodes the credential of a record, the issuer's or the holder's, and asks its status list.
 *
 * @throws {Problem} 404; 400 while there is no credential; 422 for one that cannot be read.
 */
export async function readContent(wallet: Wallet, recordId: string): Promise<CredentialContent> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const {
    issuerDid = await findIssuer(wallet.db, record),
    subjectDid,
    claims,
    statuses,
    validFrom,
    validUntil,
    ...own
  } = decode(record)
  const { schemas, definition, disclosable, bound, header, payload } = own
  return present({
    recordId,
    credentialFormat: record.credentialFormat,
    issuer: issuerDid,
    subject: subjectDid,
    claims: claims as CredentialContent['claims'],
    disclosable,
    bound,
    schemas,
    definition,
    validFrom: toInstant(validFrom),
    validUntil: toInstant(validUntil),
    standing: await findRevocationStatus(wallet.env, { statuses, issuerDid }),
    header: header && { ...header },
    payload,
  })
}

function decode({ id, state, credentialFormat, credential }: CredentialRecord): Content {
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

/** Who issued a credential that does not say it itself: this wallet, or who the definition named when it came. */
async function findIssuer(db: Db, { id, issuingDID }: CredentialRecord): Promise<string> {
  if (issuingDID !== undefined) return issuingDID
  const { issuer } = await db
    .selectFrom('credential')
    .select('issuer')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return issuer
}

/** The seconds of the years 0 to 9999, which is as far as RFC 3339 writes. */
const [firstSecond, lastSecond] = [-62_167_219_200, 253_402_300_799]

/** Epoch seconds as a date; one that cannot be written is the nearest that can. */
function toInstant(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined
  return new Date(Math.min(Math.max(seconds, firstSecond), lastSecond) * 1_000).toISOString()
}
