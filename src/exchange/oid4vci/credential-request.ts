/**
 * Requests to the credential endpoint (VCI §8.2): their form, the credential that they ask for, and their
 * proofs.
 */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Granted } from './access-token.ts'
import { authorizedIn } from './authorization-code.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import type { IssuerRow } from './issuers.ts'
import { maxBatch } from './metadata.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { invalidProof } from './proof.ts'
import { credentialIdentifierOf, findRecords } from './grant.ts'

const Jwt = z.string().min(1)

/** The request of VCI §8.2, and that of the Cloud Agent, which follows an earlier draft. */
export const CredentialRequest = z
  .looseObject({
    credential_configuration_id: z.string().optional(),
    credential_identifier: z.string().optional(),
    proofs: z
      .looseObject({
        jwt: z.array(Jwt).optional(),
        attestation: z.array(Jwt).length(1, 'is not an array of one key attestation').optional(),
      })
      .optional(),
    credential_response_encryption: z.unknown().optional(),
    format: z.string().optional().describe('In the form of the Cloud Agent.'),
    credential_definition: z.looseObject({ type: z.array(z.string()) }).optional(),
    proof: z.looseObject({ proof_type: z.string(), jwt: Jwt.optional() }).optional(),
  })
  .meta({ id: 'CredentialRequest' })
export type CredentialRequest = z.output<typeof CredentialRequest>

/** @throws {OAuthError} `invalid_credential_request`, `invalid_proof` */
export function readRequest(body: unknown): CredentialRequest {
  const parsed = CredentialRequest.safeParse(body)
  if (parsed.success) return parsed.data
  const [{ path }] = parsed.error.issues as [z.core.$ZodIssue]
  const isProof = path[0] === 'proofs' || path[0] === 'proof'
  throw new OAuthError(isProof ? 'invalid_proof' : 'invalid_credential_request', firstFault(parsed.error))
}

/** The record of a requested credential, and its configuration. */
export type Requested = { record: CredentialRecord; configuration: ConfigurationRow }

/**
 * The credential that a request is for, one of those of the access token. The issuer alone decides what is in
 * it.
 *
 * @throws {OAuthError}
 */
export async function findRequested(
  { db, env }: Wallet,
  { id: issuerId }: IssuerRow,
  { grant, recordIds }: Granted,
  request: CredentialRequest,
): Promise<Requested> {
  const { credential_configuration_id: wanted, credential_identifier: identifier, format } = request
  if (wanted !== undefined && identifier !== undefined)
    throw new OAuthError(
      'invalid_credential_request',
      'credential_configuration_id and credential_identifier exclude each other.',
    )
  const records = await findRecords(db, recordIds)
  const isNamed = authorizedIn(grant)?.byDetails === true
  if (isNamed && identifier === undefined)
    throw new OAuthError(
      'invalid_credential_request',
      'The token response has a credential identifier. Send it as credential_identifier, without credential_configuration_id.',
    )
  if (!isNamed && identifier !== undefined && records.length === 1)
    throw new OAuthError(
      'unknown_credential_identifier',
      'The token response has no credential identifiers. Send credential_configuration_id.',
    )
  const record =
    identifier === undefined ? findByConfiguration(records, request) : findByIdentifier(records, identifier)
  const granted = record?.openid4vci?.configurationId
  const configuration = await findConfiguration(env.db, issuerId, wanted ?? granted ?? '')
  if (!configuration || (format !== undefined && format !== configuration.format))
    throw new OAuthError(
      'unknown_credential_configuration',
      'This issuer has no such credential configuration.',
    )
  if (!record) throw new OAuthError('insufficient_scope', 'The access token is for another credential.')
  return { record, configuration }
}

/** @throws {OAuthError} */
function findByIdentifier(records: readonly CredentialRecord[], identifier: string): CredentialRecord {
  const record = records.find((each) => credentialIdentifierOf(each) === identifier)
  if (!record)
    throw new OAuthError('unknown_credential_identifier', 'The access token is for another credential.')
  return record
}

/**
 * The only record of a configuration. The form of the Cloud Agent names none, and is for a token of one
 * credential.
 *
 * @throws {OAuthError} without a configuration, or if several credentials have it
 */
function findByConfiguration(
  records: readonly CredentialRecord[],
  { credential_configuration_id: wanted, format }: CredentialRequest,
): CredentialRecord | undefined {
  if (wanted === undefined && (format === undefined || records.length > 1))
    throw new OAuthError('invalid_credential_request', 'credential_configuration_id is missing.')
  const [record, ...others] =
    wanted === undefined
      ? records
      : records.filter(({ openid4vci }) => openid4vci?.configurationId === wanted)
  if (others.length > 0)
    throw new OAuthError(
      'invalid_credential_request',
      `The access token is for ${others.length + 1} credentials of ${wanted}. Send a credential_identifier of the token response.`,
    )
  return record
}

/** The proofs of a request: a key attestation, or one or more JWTs in the final form. */
export type Proofs = { attestation: string } | { jwt: string[] }

/** @throws {OAuthError} `invalid_proof` */
export function proofsOf({ proofs, proof }: CredentialRequest): Proofs {
  const types = Object.keys(proofs ?? {})
  if (types.some((type) => type !== 'jwt' && type !== 'attestation') || (proof && proof.proof_type !== 'jwt'))
    throw invalidProof('this issuer takes proofs of the types jwt and attestation only')
  if (types.length > 1 || (proofs && proof)) throw invalidProof('proofs of several types exclude each other')
  if (proofs?.attestation) return { attestation: proofs.attestation[0]! }
  const jwt = proofs?.jwt ?? [proof?.jwt ?? []].flat()
  if (jwt.length === 0) throw invalidProof('it is missing. Send one in proofs.jwt')
  assertBatch(jwt.length)
  return { jwt }
}

/** @throws {OAuthError} `invalid_proof` for more keys than one request may have */
export function assertBatch(count: number): void {
  if (count > maxBatch) throw invalidProof(`there are ${count} keys; this issuer takes at most ${maxBatch}`)
}
