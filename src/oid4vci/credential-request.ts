/** Requests to the credential endpoint (VCI §8.2): their form, the credential that they ask for, and their proofs. */
import * as z from 'zod'
import type { Wallet } from '../wallet/wallet.ts'
import { authorizedIn } from './authorization-code.ts'
import { findConfiguration } from './configurations.ts'
import type { IssuerRow } from './issuers.ts'
import { maxBatch } from './metadata.ts'
import { OAuthError } from './oauth-error.ts'
import { invalidProof } from './proof.ts'
import type { SessionRow } from './session.ts'

const Jwt = z.string().min(1)

/** The request of VCI §8.2, and that of the Cloud Agent, which follows an earlier draft. */
export const CredentialRequest = z
  .looseObject({
    credential_configuration_id: z.string().optional(),
    credential_identifier: z.string().optional(),
    proofs: z.looseObject({ jwt: z.array(Jwt).optional() }).optional(),
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
  const { path, message } = parsed.error.issues[0]!
  const isProof = path[0] === 'proofs' || path[0] === 'proof'
  throw new OAuthError(
    isProof ? 'invalid_proof' : 'invalid_credential_request',
    `${path.join('.') || 'body'}: ${message}`,
  )
}

/** Whether the request has the form of the final specification. */
export function isFinalForm({ format }: CredentialRequest): boolean {
  return format === undefined
}

/** Checks that the request is for the credential of the session, whose contents the issuer alone decides. @throws {OAuthError} */
export async function checkConfiguration(
  { env }: Wallet,
  { id: issuerId }: IssuerRow,
  session: SessionRow,
  request: CredentialRequest,
): Promise<void> {
  const { credential_configuration_id: wanted, credential_identifier: identifier, format } = request
  const { configuration_id: granted } = session
  if (authorizedIn(session)?.byDetails === true) return checkIdentifier(session, request)
  if (identifier !== undefined)
    throw new OAuthError(
      'unknown_credential_identifier',
      'The token response has no credential identifiers. Send credential_configuration_id.',
    )
  if (wanted === undefined && format === undefined)
    throw new OAuthError('invalid_credential_request', 'credential_configuration_id is missing.')
  const configuration = await findConfiguration(env.db, issuerId, wanted ?? granted)
  if (!configuration || (format !== undefined && format !== configuration.format))
    throw new OAuthError(
      'unknown_credential_configuration',
      'This issuer has no such credential configuration.',
    )
  if (configuration.id !== granted)
    throw new OAuthError('insufficient_scope', 'The access token is for another credential.')
}

/** VCI §8.2: a token response with credential identifiers requires one in the request. @throws {OAuthError} */
function checkIdentifier({ record_id: granted }: SessionRow, request: CredentialRequest): void {
  const { credential_configuration_id: configuration, credential_identifier: identifier } = request
  if (configuration !== undefined || identifier === undefined)
    throw new OAuthError(
      'invalid_credential_request',
      'The token response has a credential identifier. Send it as credential_identifier, without credential_configuration_id.',
    )
  if (identifier !== granted)
    throw new OAuthError('unknown_credential_identifier', 'The access token is for another credential.')
}

/** The proofs of a request: one, or a batch in the final form. @throws {OAuthError} `invalid_proof` */
export function proofsOf({ proofs, proof }: CredentialRequest): string[] {
  const others = Object.keys(proofs ?? {}).filter((type) => type !== 'jwt')
  if (others.length > 0 || (proof && proof.proof_type !== 'jwt'))
    throw invalidProof('this issuer takes proofs of the type jwt only')
  if (proofs && proof) throw invalidProof('proof and proofs exclude each other')
  const all = proofs?.jwt ?? [proof?.jwt ?? []].flat()
  if (all.length === 0) throw invalidProof('it is missing. Send one in proofs.jwt')
  if (all.length > maxBatch)
    throw invalidProof(`there are ${all.length}; this issuer takes at most ${maxBatch}`)
  return all
}
