/**
 * Accepts a request over OpenID4VP: signs the presentations of the chosen credentials, and the form that
 * carries them.
 */
import { isOver } from '../../../foundation/clock.ts'
import { Problem } from '../../../foundation/problem.ts'
import { sealAnnexCResponse } from '../../../credentials/formats/mdoc/annex-c.ts'
import type { Session } from '../../../credentials/formats/presentation.ts'
import type { PublicJwk } from '../../../foundation/crypto/keys.ts'
import type { Tx } from '../../../foundation/storage/database.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { takeNextCopies } from '../../held-credentials/copies.ts'
import { advance } from '../../engine/record.ts'
import { answerQuery } from '../../presentation/dcql-answer.ts'
import { audienceOf, type DigitalCredential, isoMdoc } from '../../presentation/digital-credentials.ts'
import type { PresentationChange, PresentOptions } from '../../presentation/format.ts'
import { presentProof, type PresentationRecord } from '../../presentation/model.ts'
import type { StoredRequest } from '../../presentation/openid4vp-request.ts'
import { declineChange, deliverResponse, toForm, toParameters, type WithRequest } from './response.ts'

/**
 * The change of the record that accepts its request.
 *
 * @throws {Problem} if the request has expired, or the credentials do not answer it
 */
async function answerRequest(
  wallet: Wallet,
  record: WithRequest,
  { proofId: chosen, claims, credentialFormat, anoncredPresentationRequest }: PresentOptions,
): Promise<PresentationChange> {
  const { openid4vpRequest: request } = record
  const foreign = { claims, credentialFormat, anoncredPresentationRequest }
  const [member] = Object.entries(foreign).find(([, value]) => value !== undefined) ?? []
  if (member !== undefined)
    throw new Problem(
      'BadRequest',
      `${member}: the request is over OpenID4VP, and its query names formats and claims. Name credentials in proofId.`,
    )
  if (request.expiresTime !== undefined && isOver(request.expiresTime * 1_000))
    throw await expire(wallet, record)
  const { digital, dcqlQuery: query, nonce } = request
  const clientId = digital ? audienceOf(digital.origin) : request.clientId
  const session = sessionOf(request)
  const { answer, proofId, token } = await answerQuery(wallet, { query, clientId, nonce, session }, chosen)
  const response = await toResponse(request, { vp_token: token })
  const parts = answer.map(({ credentialId, recordId }) => `${credentialId}: ${recordId}`)
  const steps = [...request.steps, { step: 'consent', detail: `Accepted with ${parts.join(', ')}.` }]
  return {
    proofId,
    data: Object.values(token).flat(),
    openid4vpRequest: { ...request, ...response, steps },
  }
}

/** What the transcript of a document is made of. */
function sessionOf(request: StoredRequest): Session {
  const { digital, clientId, nonce, responseUri, encryption, encryptionInfo } = request
  if (digital && encryptionInfo !== undefined)
    return { handover: isoMdoc, origin: digital.origin, encryptionInfo }
  const encryptedTo = encryption?.jwk as PublicJwk | undefined
  return digital
    ? { handover: 'dc-api', origin: digital.origin, nonce, encryptedTo }
    : { handover: 'redirect', clientId, nonce, responseUri, encryptedTo }
}

/** The response to deliver, or to return to the platform. */
async function toResponse(
  request: StoredRequest,
  content: { vp_token: Record<string, string[]> },
): Promise<Pick<StoredRequest, 'response' | 'digitalCredential'>> {
  if (!request.digital) return { response: await toForm(request, content) }
  const { protocol, origin } = request.digital
  const { encryptionInfo } = request
  const data =
    encryptionInfo === undefined
      ? ((await toParameters(request, content)) as DigitalCredential['data'])
      : { response: sealAnnexCResponse(Object.values(content.vp_token).flat(), { origin, encryptionInfo }) }
  return { digitalCredential: { protocol, data } }
}

/** Ends the record of an expired request. Returns the problem to throw. */
async function expire(wallet: Wallet, record: PresentationRecord): Promise<Problem> {
  const detail = 'The request has expired. Ask the verifier for a new one.'
  const metaLastFailure = { status: 409, type: 'RequestExpired', title: 'Request Expired', detail }
  await wallet.transaction((tx) => advance(tx, presentProof, record, 'expired', { metaLastFailure }))
  return new Problem('Conflict', detail)
}

/** OpenID4VP as a transport of presentations. They are made with the consent. */
export const openid4vp = {
  accept: answerRequest,
  onAccept: (tx: Tx, { proofId = [] }: PresentationChange) => takeNextCopies(tx, proofId),
  decline: (record: WithRequest) => ({ on: 'request-decline' as const, change: declineChange(record) }),
  deliver: deliverResponse,
}
