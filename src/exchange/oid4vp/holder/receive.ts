/**
 * Receives an authorization request for a tenant's wallet: checks it, and makes a record that can be
 * answered.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { isJsonObject } from '../../../foundation/json.ts'
import { Problem } from '../../../foundation/problem.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { findByThread } from '../../engine/find.ts'
import { begin } from '../../engine/record.ts'
import { NotDelivered } from '../../engine/send.ts'
import { purposeIn, toInvitation } from '../../protocols/out-of-band.ts'
import { firstFormatOf } from '../../presentation/dcql.ts'
import { presentProof, type PresentationRecord } from '../../presentation/model.ts'
import { postResponse, toForm } from './response.ts'
import type { StoredRequest } from '../../presentation/openid4vp-request.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { findShortUrl } from '../../../foundation/net/short-url.ts'
import { NoFreeConnectionError, ServerDownError } from '../../../foundation/net/destinations.ts'
import { UnreachableError } from '../../../foundation/net/unreachable-error.ts'
import { DigitalRequest } from '../../presentation/digital-credentials.ts'
import { optional } from '../../../wallet/model.ts'
import { resolveDigitalRequest } from './digital-request.ts'
import { RequestError, resolveRequest } from './request.ts'

export const ReceiveOpenId4VpRequest = z
  .object({
    authorizationRequest: optional(z.string().min(1).max(200_000)).describe(
      'The URL of the request, as link or QR code: `openid4vp://?…` or another one with its parameters; or the short URL of a DID request or a challenge.',
    ),
    digitalRequest: optional(DigitalRequest).describe(
      'Instead: a request of the Digital Credentials API. The response is `openid4vpRequest.digitalCredential` of the record.',
    ),
    origin: optional(z.string().min(1).max(300)).describe(
      'The origin of the page that makes the `digitalRequest`, as the platform names it.',
    ),
  })
  .refine((given) => (given.authorizationRequest === undefined) !== (given.digitalRequest === undefined), {
    path: ['authorizationRequest'],
    message: 'is required, or else a digitalRequest',
  })
  .refine((given) => (given.digitalRequest === undefined) === (given.origin === undefined), {
    path: ['origin'],
    message: 'is required with a digitalRequest, and only then',
  })
  .meta({ id: 'ReceiveOpenId4VpRequest' })
export type ReceiveOpenId4VpRequest = z.output<typeof ReceiveOpenId4VpRequest>

/**
 * A second call with the same request returns the same record, while it can be answered.
 *
 * @throws {Problem} 400 with the fault of the request, of which the verifier is told if it is known; 409 if
 * the request was answered
 */
export async function receiveRequest(
  wallet: Wallet,
  given: ReceiveOpenId4VpRequest,
): Promise<PresentationRecord> {
  const request = await resolve(wallet, given)
  const thid = threadOf(request)
  const data = presentProof.model.parse({
    credentialFormat: firstFormatOf(request.dcqlQuery),
    proofs: [],
    requestData: [JSON.stringify(request.dcqlQuery)],
    data: [],
    openid4vpRequest: request,
  })
  return wallet.transaction(async (tx) => {
    const known = await findByThread(tx, presentProof, 'Prover', thid)
    if (known?.state === 'RequestReceived') return known
    if (known)
      throw new Problem(
        'Conflict',
        `This request was received before: the record ${known.id} is in ${known.state}. Ask the verifier for a new one.`,
      )
    const on = 'POST /present-proof/presentations/openid4vp/requests'
    return begin(tx, presentProof, 'Prover', on, { thid, data })
  })
}

const Linked = z.object({ authorizationRequest: z.string().max(200_000) })

/**
 * The request of a DID request or a challenge, if the text is its short URL. The link only carries the
 * request: nothing in it is trusted.
 */
async function followLink({ env }: Wallet, text: string): Promise<string> {
  const url = findShortUrl(text)
  if (!url) return text
  const document = await env.retrieve(url)
  const { data } = Linked.safeParse(document)
  if (data) return data.authorizationRequest
  const [what, command] = describeLinked(document, url)
  throw new Problem(
    'error:PresentationError:InvalidPresentationRequest',
    `authorizationRequest: the short URL has ${what}, and no request of OpenID4VP. Answer it with ${command}.`,
  )
}

/** Names the document at a short URL, and the command that answers it. */
function describeLinked(document: unknown, url: URL): [what: string, command: string] {
  if (isJsonObject(document) && 'onboardEndpoint' in document)
    return ['a DID request', 'agent onboard submit']
  if (isJsonObject(document) && 'submissionEndpoint' in document)
    return ['a challenge', 'agent signin respond']
  const purpose = purposeIn(toInvitation(document, url).invitation)
  if (purpose === 'offer') return ['a credential offer of DIDComm', 'agent credential accept-invitation']
  if (purpose === 'request') return ['a proof request of DIDComm', 'agent proof accept-invitation']
  return ['an invitation to connect', 'agent connection accept']
}

/** A verifier makes a new nonce for each request (§5.2), so both together are the request. */
function threadOf({ clientId, nonce }: StoredRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([clientId, nonce]))
    .digest('base64url')
}

async function resolve(
  wallet: Wallet,
  { authorizationRequest, digitalRequest, origin = '' }: ReceiveOpenId4VpRequest,
): Promise<StoredRequest> {
  try {
    return digitalRequest
      ? await resolveDigitalRequest(wallet, digitalRequest, origin)
      : await resolveRequest(wallet, await followLink(wallet, authorizationRequest!))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const told = error instanceof RequestError && (await tell(wallet, error)) ? ' The verifier was told.' : ''
    const [member, hint] = digitalRequest
      ? ['digitalRequest', ` The answer to the page is {"error":"${error.code}"}.`]
      : ['authorizationRequest', told]
    throw new Problem(
      'error:PresentationError:InvalidPresentationRequest',
      `${member}: ${error.message}${hint}`,
      { cause: error },
    )
  }
}

/** Sends the error of a request once (§8.5). False if the verifier cannot be reached. */
async function tell(wallet: Wallet, { code, message, target }: RequestError): Promise<boolean> {
  try {
    const form = await toForm(target, { error: code, error_description: message })
    await postResponse(wallet, target.responseUri, form)
    return true
  } catch (error) {
    const isKnown = [NotDelivered, UnreachableError, ServerDownError, NoFreeConnectionError].some(
      (type) => error instanceof type,
    )
    if (isKnown) return false
    throw error
  }
}
