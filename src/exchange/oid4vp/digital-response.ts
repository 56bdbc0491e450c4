/**
 * Responses of wallets that a page got from the Digital Credentials API (OpenID4VP 1.0 Appendix A.4; ISO/IEC
 * TS 18013-7 Annex C).
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import { openAnnexCResponse } from '../../credentials/formats/mdoc/annex-c.ts'
import type { Session } from '../../credentials/formats/presentation.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { getRecord } from '../engine/find.ts'
import { audienceOf, DigitalCredential, isoMdoc } from '../presentation/digital-credentials.ts'
import { presentProof, type PresentationRecord } from '../presentation/model.ts'
import { digitalRequestsOf } from '../presentation/openid4vp.ts'
import { optional } from '../../wallet/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRequest, type RequestRecord } from './authorization-request.ts'
import { openResponse, type Response } from './authorization-response.ts'
import {
  AnsweredRequest,
  type FindAnsweredSession,
  receive,
  RefusedResponse,
  type ResponseReceipt,
} from './response.ts'
import { findKey } from './session.ts'

/**
 * The members of `data`. Others are ignored: the request's parameter `state` is not part of the Digital
 * Credentials API.
 */
const Data = z.object({
  vp_token: z.unknown().optional(),
  response: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
})

/**
 * Receives a response from the page of a request.
 *
 * @throws {OAuthError} `invalid_request` with the reason; {Problem} 404, 503
 */
export async function receiveFromPage(
  wallet: Wallet,
  token: string,
  origin: string | undefined,
  credential: DigitalCredential,
  findAnswered: FindAnsweredSession,
): Promise<ResponseReceipt> {
  const record = await getRequest(wallet, token)
  return receiveDigital(wallet, record, { ...credential, origin }, findAnswered)
}

async function receiveDigital(
  wallet: Wallet,
  record: RequestRecord,
  { origin = '', ...credential }: DigitalResponse,
  findAnswered: FindAnsweredSession,
): Promise<ResponseReceipt> {
  const digest = digestOf(JSON.stringify([origin, credential.protocol, credential.data]))
  const { nonce, clientId } = record.openid4vp
  const opened: Session =
    credential.protocol === isoMdoc
      ? { handover: isoMdoc, ...isoMdocSession(record, origin) }
      : { handover: 'dc-api', origin, nonce, clientId }
  const arrived = { record, audience: audienceOf(origin), digest, opened }
  return receive(wallet, arrived, () => readDigital(wallet, record, origin, credential), findAnswered)
}

async function readDigital(
  wallet: Wallet,
  record: RequestRecord,
  origin: string,
  { protocol, data }: DigitalCredential,
): Promise<Response> {
  const { origins = [] } = record.openid4vp
  const protocols = digitalRequestsOf(record.openid4vp).map((request) => request.protocol)
  if (protocols.length === 0) throw refused('The request is not for the Digital Credentials API.')
  if (!origins.includes(origin)) throw refused(`origin is none of the request: ${origins.join(', ')}.`)
  if (!protocols.includes(protocol))
    throw refused(`protocol is none of the request: ${protocols.join(', ')}.`)
  const parsed = Data.safeParse(data)
  if (!parsed.success) throw refused(`data: ${reasonOf(parsed.error)}.`)
  return protocol === isoMdoc
    ? openIsoMdocResponse(wallet, record, origin, parsed.data)
    : openResponse(wallet, record, parsed.data)
}

/** @throws {OAuthError} for a response that was not made for this request and origin, or cannot be read */
async function openIsoMdocResponse(
  wallet: Wallet,
  record: RequestRecord,
  origin: string,
  { response, ...plain }: z.output<typeof Data>,
): Promise<Response> {
  if (plain.error !== undefined) return plain
  if (response === undefined) throw refused('data.response is missing.')
  const key = await findKey(wallet, record.id)
  const session = isoMdocSession(record, origin)
  try {
    return { vp_token: openAnnexCResponse(response, key!, session, record.openid4vp.dcqlQuery) }
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    throw new OAuthError('invalid_request', `${error.message}.`, { cause: error })
  }
}

function isoMdocSession({ openid4vp: { isoMdocRequest } }: RequestRecord, origin: string) {
  return { origin, encryptionInfo: (isoMdocRequest?.data['encryptionInfo'] ?? '') as string }
}

const refused = (reason: string) => new OAuthError('invalid_request', reason)

export const DigitalResponse = DigitalCredential.extend({
  origin: optional(z.string().max(300)).describe(
    'The origin of the page that called `navigator.credentials.get`. Default: the only one of the request.',
  ),
}).meta({ id: 'DigitalCredentialResponse' })
export type DigitalResponse = z.infer<typeof DigitalResponse>

/**
 * Receives a response from the tenant, whose own page got it. Returns the record with the result of the
 * checks.
 *
 * @throws {Problem} 400 for a response that is not of the request, which stays open; 404; 409 after another
 * response; 503
 */
export async function receiveFromTenant(
  wallet: Wallet,
  presentationId: string,
  { origin: given, ...credential }: DigitalResponse,
  findAnswered: FindAnsweredSession,
): Promise<PresentationRecord> {
  const record = await getRecord(wallet.db, presentProof, presentationId)
  if (!record.openid4vp || digitalRequestsOf(record.openid4vp).length === 0)
    throw new Problem('BadRequest', 'The presentation was not requested for the Digital Credentials API.')
  const { origins = [] } = record.openid4vp
  if (given === undefined && origins.length > 1)
    throw new Problem('BadRequest', `origin is missing. It is one of ${origins.join(', ')}.`)
  try {
    const response = { ...credential, origin: given ?? origins[0] }
    await receiveDigital(wallet, record as RequestRecord, response, findAnswered)
  } catch (error) {
    if (error instanceof AnsweredRequest) throw new Problem('Conflict', error.message, { cause: error })
    if (!(error instanceof OAuthError)) throw error
    if (!(error instanceof RefusedResponse)) throw new Problem('BadRequest', error.message, { cause: error })
  }
  return getRecord(wallet.db, presentProof, presentationId)
}
