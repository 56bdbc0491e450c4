/** The credential endpoint (VCI §8): issues the credential of a session to the key that the wallet proves to have. */
import * as z from 'zod'
import { isOver } from '../base/clock.ts'
import { isSameKey } from '../crypto/keys.ts'
import { getRecord } from '../protocols/engine/find.ts'
import { updateData } from '../protocols/engine/record.ts'
import { issueCredential } from '../protocols/issue-credential/model.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { findConfiguration } from './configurations.ts'
import { issueOnce } from './issue.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { maxBatch } from './metadata.ts'
import { nonceLifetimeSeconds, readNonce } from './nonce.ts'
import { OAuthError } from './oauth-error.ts'
import { invalidProof, verifyKeyProof, type KeyProof, type ProofChecks } from './proof.ts'
import { logRefusal } from './request-log.ts'
import { findSession, type SessionRow } from './session.ts'

/** How often a wallet may ask for a deferred credential. */
const deferredIntervalSeconds = 5

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

export const CredentialResponse = z
  .object({
    credentials: z.array(z.object({ credential: z.string() })).optional(),
    credential: z.string().optional().describe('In the form of the Cloud Agent.'),
    notification_id: z.string().optional(),
    transaction_id: z.string().optional().describe('The issuance is deferred. The status is 202 then.'),
    interval: z.int().optional().describe('Seconds to wait before the next deferred request.'),
  })
  .meta({ id: 'CredentialResponse' })
export type CredentialResponse = z.infer<typeof CredentialResponse>

/**
 * Issues the credential. A repeated request with a proof of the same key returns the same credential, because the first response may be lost.
 *
 * @throws {OAuthError} with the reason, which the record then has too
 */
export async function issueToWallet(
  wallet: Wallet,
  issuer: IssuerRow,
  { authorization, body }: { authorization: string | undefined; body: unknown },
): Promise<CredentialResponse> {
  const session = await authorize(wallet, issuer, authorization)
  try {
    const request = readRequest(body)
    await checkConfiguration(wallet, issuer, session, request)
    const proofs = await verifyProofs(proofsOf(request), checksOf(wallet, issuer))
    const credentials = await issueOnce(wallet, session.record_id, proofs)
    if (credentials && !isFinalForm(request)) return { credential: credentials[0]! }
    return toResponse(session, credentials)
  } catch (error) {
    if (error instanceof OAuthError) await noteRefusal(wallet, session.record_id, error)
    throw error
  }
}

/** The response with the credentials, or that of a deferred issuance. Access tokens protect both ids, which are that of the record. */
export function toResponse(
  { record_id: id }: SessionRow,
  credentials: string[] | undefined,
): CredentialResponse {
  if (!credentials) return { transaction_id: id, interval: deferredIntervalSeconds }
  return { credentials: credentials.map((credential) => ({ credential })), notification_id: id }
}

/** The session of an access token (RFC 6750 §2.1). @throws {OAuthError} `invalid_token` */
export async function authorize(wallet: Wallet, { id }: IssuerRow, header = ''): Promise<SessionRow> {
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
  if (token === undefined)
    throw new OAuthError('invalid_token', 'The request has no access token in its Authorization header.')
  const session = await findSession(wallet.db, id, 'token_digest', token)
  if (session && !isOver(Date.parse(session.token_expires_at ?? ''))) return session
  const error = new OAuthError('invalid_token', 'The access token is unknown to this issuer, or has expired.')
  if (session) await noteRefusal(wallet, session.record_id, error)
  throw error
}

function readRequest(body: unknown): CredentialRequest {
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
function isFinalForm({ format }: CredentialRequest): boolean {
  return format === undefined
}

/** Checks that the request is for the credential of the session, whose contents the issuer alone decides. @throws {OAuthError} */
async function checkConfiguration(
  { env }: Wallet,
  { id: issuerId }: IssuerRow,
  { configuration_id: granted }: SessionRow,
  request: CredentialRequest,
): Promise<void> {
  const { credential_configuration_id: wanted, credential_identifier: identifier, format } = request
  if (request.credential_response_encryption !== undefined)
    throw new OAuthError('invalid_encryption_parameters', 'This issuer does not encrypt responses.')
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

/** The proofs of a request: one, or a batch in the final form. @throws {OAuthError} `invalid_proof` */
function proofsOf({ proofs, proof }: CredentialRequest): string[] {
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

/** VCI §8.3: each key gets at most one credential. */
async function verifyProofs(all: readonly string[], checks: ProofChecks): Promise<KeyProof[]> {
  const proofs: KeyProof[] = []
  for (const jwt of all) {
    const proof = await verifyKeyProof(jwt, checks)
    if (proofs.some(({ key }) => isSameKey(key, proof.key)))
      throw invalidProof('two proofs of the batch are of the same key')
    proofs.push(proof)
  }
  return proofs
}

function checksOf(wallet: Wallet, { id }: IssuerRow): ProofChecks {
  const { env } = wallet
  return {
    resolve: env.resolver.document,
    audience: identifierOf(env.urls.rest, id),
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: env.config.PRESENTATION_LEEWAY,
    maxAgeSeconds: nonceLifetimeSeconds,
    readNonce: (nonce: string) => readNonce(wallet, id, nonce),
  }
}

/** Stores why a request was refused, for the trace. The wallet may send a better one. */
async function noteRefusal(wallet: Wallet, recordId: string, error: OAuthError): Promise<void> {
  const title = error.code.replaceAll('_', ' ')
  const metaLastFailure = { status: error.status, type: error.code, title, detail: error.message }
  await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    await logRefusal(tx, record, 'credential-request', error)
    if (record.state === 'OfferRedeemed') await updateData(tx, record, { metaLastFailure })
  })
}
