/** The credential endpoint (VCI §8): issues the credential of a session to the key that the wallet proves to have. */
import * as z from 'zod'
import { isSameKey } from '../crypto/keys.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { authorize, type Presented } from './access-token.ts'
import { checkConfiguration, isFinalForm, proofsOf, readRequest } from './credential-request.ts'
import { openRequest, readResponseEncryption, type Seal } from './encryption.ts'
import { issueOnce } from './issue.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { nonceLifetimeSeconds, readNonce } from './nonce.ts'
import { OAuthError } from './oauth-error.ts'
import { invalidProof, verifyKeyProof, type KeyProof, type ProofChecks } from './proof.ts'
import { noteRefusal } from './request-log.ts'
import type { SessionRow } from './session.ts'

/** The seconds between two requests for a deferred credential. */
const deferredIntervalSeconds = 5

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
  { body, ...presented }: Presented & { body: unknown },
): Promise<Sent> {
  const session = await authorize(wallet, issuer, 'credentials', presented)
  try {
    const opened = await openRequest(wallet, issuer, body)
    const request = readRequest(opened.body)
    const { credential_response_encryption: encryption } = request
    const seal = await readResponseEncryption(issuer, encryption, opened.isEncrypted)
    await checkConfiguration(wallet, issuer, session, request)
    const proofs = await verifyProofs(proofsOf(request), checksOf(wallet, issuer))
    const credentials = await issueOnce(wallet, session.record_id, proofs)
    return await toSent(
      credentials && !isFinalForm(request)
        ? { credential: credentials[0]! }
        : toResponse(session, credentials),
      seal,
    )
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

/** A response: JSON, or a JWE (VCI §10). */
export type Sent = { isDeferred: boolean; body: CredentialResponse | string }

export async function toSent(response: CredentialResponse, seal: Seal | undefined): Promise<Sent> {
  return { isDeferred: response.transaction_id !== undefined, body: seal ? await seal(response) : response }
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
