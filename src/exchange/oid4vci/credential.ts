/**
 * The credential endpoint (VCI §8): issues a credential of a grant to the key that the wallet proves to have.
 */
import * as z from 'zod'
import { algorithmOf, isSameKey, type PublicJwk } from '../../foundation/crypto/keys.ts'
import { type OpenIdFormat, openIdTraits } from '../../definitions/format-names.ts'
import { createJwkDid } from '../../did/jwk.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { issueCredential } from '../issuance/model.ts'
import { authorize, type Granted, type Presented } from './access-token.ts'
import { authorizedIn } from './authorization-code.ts'
import { progressOf } from './claims-decision.ts'
import type { ConfigurationRow } from './configurations.ts'
import { assertBatch, findRequested, type Proofs, proofsOf, readRequest } from './credential-request.ts'
import { openRequest, readResponseEncryption, type Seal } from './encryption.ts'
import { issueOnce } from './issue.ts'
import type { Proven } from './signing.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { type KeyAttestation, requirementOf, verifyKeyAttestation, withoutCopies } from './key-attestation.ts'
import { readNonce } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { invalidProof, verifyKeyProof, type ProofChecks } from './proof.ts'
import { logRefusedRequest } from './request-log.ts'
import { providersOf } from './wallet-providers.ts'

/** The shortest and the longest interval between two requests for a deferred credential, in seconds. */
const [shortestInterval, longestInterval] = [5, 300]

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
 * Issues the credential. A repeated request with a proof of the same key returns the same credential, because
 * the first response may be lost.
 *
 * @throws {OAuthError} with the reason, which the record then has too
 */
export async function issueToWallet(
  wallet: Wallet,
  issuer: IssuerRow,
  { body, ...presented }: Presented & { body: unknown },
): Promise<Sent> {
  const granted = await authorize(wallet, issuer, 'credentials', presented)
  let [recordId] = granted.recordIds as [string]
  try {
    const opened = await openRequest(wallet, issuer, body)
    const request = readRequest(opened.body)
    const { credential_response_encryption: encryption } = request
    const seal = await readResponseEncryption(issuer, encryption, opened.isEncrypted)
    const { record, configuration } = await findRequested(wallet, issuer, granted, request)
    recordId = record.id
    const proven = await verifyProofs(proofsOf(request), checksOf(wallet, issuer, granted, configuration))
    requireBindable(configuration, proven)
    const { grant, refreshed } = granted
    const credentials = await issueOnce(wallet, { recordId, configuration, grant, refreshed }, proven)
    return await toSent(
      credentials && request.format !== undefined
        ? { credential: credentials[0]! }
        : await toResponse(wallet, recordId, credentials),
      seal,
    )
  } catch (error) {
    if (error instanceof OAuthError) await logRefusedRequest(wallet, recordId, error)
    throw error
  }
}

/**
 * The response with the credentials, or that of a deferred issuance. Access tokens protect both ids, which
 * are that of the record.
 */
export async function toResponse(
  wallet: Wallet,
  id: string,
  credentials: string[] | undefined,
): Promise<CredentialResponse> {
  if (!credentials) return { transaction_id: id, interval: await intervalOf(wallet, id) }
  return { credentials: credentials.map((credential) => ({ credential })), notification_id: id }
}

/** The seconds until the claims source is asked again. The tenant may decide earlier. */
async function intervalOf({ db }: Wallet, id: string): Promise<number> {
  const { askAtMs = 0 } = progressOf(await getRecord(db, issueCredential, id)) ?? {}
  const seconds = Math.ceil((askAtMs - Date.now()) / 1_000)
  return Math.min(Math.max(shortestInterval, seconds), longestInterval)
}

/** A response: JSON, or a JWE (VCI §10). */
export type Sent = { isDeferred: boolean; body: CredentialResponse | string }

export async function toSent(response: CredentialResponse, seal: Seal | undefined): Promise<Sent> {
  return { isDeferred: response.transaction_id !== undefined, body: seal ? await seal(response) : response }
}

/** VCI §8.3: each key gets at most one credential. VCI Appendix F.1 and F.3: each attested key gets one. */
async function verifyProofs(all: Proofs, checks: ProofChecks): Promise<Proven> {
  if ('attestation' in all) {
    const { keys, nonce, nonceEndsMs } = await verifyKeyAttestation(all.attestation, 'proof', checks)
    assertBatch(keys.length)
    return { keys: keys.map(toHolderKey), nonces: new Map([[nonce, nonceEndsMs]]) }
  }
  const keys: { holderDid: string; key: PublicJwk }[] = []
  const attested: KeyAttestation[] = []
  const nonces = new Map<string, number>()
  for (const jwt of all.jwt) {
    const { holderDid, key, nonce, nonceEndsMs, attestation } = await verifyKeyProof(jwt, checks)
    if (keys.some((each) => isSameKey(each.key, key)))
      throw invalidProof('two proofs of the batch are of the same key')
    keys.push({ holderDid, key })
    nonces.set(nonce, nonceEndsMs)
    if (attestation) attested.push(attestation)
  }
  for (const { nonce, nonceEndsMs } of attested) nonces.set(nonce, nonceEndsMs)
  const others = withoutCopies(attested.flatMap((each) => each.keys)).filter(
    (key) => !keys.some((proven) => isSameKey(proven.key, key)),
  )
  assertBatch(keys.length + others.length)
  return { keys: [...keys, ...others.map(toHolderKey)], nonces }
}

/** @throws {OAuthError} `invalid_proof` for a key that credentials of the format cannot be bound to */
function requireBindable({ format }: ConfigurationRow, { keys }: Proven): void {
  const { holderAlgorithms } = openIdTraits(format as OpenIdFormat)
  for (const { key } of keys) {
    const algorithm = key && algorithmOf(key as PublicJwk)
    if (algorithm && !holderAlgorithms.includes(algorithm))
      throw invalidProof(
        `its key is of ${algorithm}, and credentials of the format ${format} have keys of ${holderAlgorithms.join(', ')}`,
      )
  }
}

function toHolderKey(key: PublicJwk) {
  return { holderDid: createJwkDid(key), key }
}

function checksOf(
  wallet: Wallet,
  issuer: IssuerRow,
  { grant }: Granted,
  configuration: ConfigurationRow,
): ProofChecks {
  const { env } = wallet
  return {
    resolve: env.resolver.document,
    policy: { providers: providersOf(issuer), requirement: requirementOf(configuration) },
    audience: identifierOf(env.urls.rest, issuer.id),
    clientId: authorizedIn(grant)?.clientId,
    clock: { now: Date.now() / 1_000, leewaySeconds: env.config.PRESENTATION_LEEWAY },
    readNonce: (nonce: string) => readNonce(wallet, issuer.id, nonce),
  }
}
