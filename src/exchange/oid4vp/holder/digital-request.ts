/**
 * Checks a request of the Digital Credentials API as a wallet (OpenID4VP 1.0 Appendix A): unsigned, signed,
 * or signed by several client ids. `iso-mdoc-request.ts` has the protocol of ISO.
 */
import * as z from 'zod'
import { oneLine, withoutNullMembers } from '../../../foundation/foreign.ts'
import type { JsonObject } from '../../../foundation/json.ts'
import { decodeHeader } from '../../../credentials/codecs/jws.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { audienceOf, type DigitalRequest, isoMdoc } from '../../presentation/digital-credentials.ts'
import type { StoredRequest, Step } from '../../presentation/openid4vp-request.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { authenticateClient, type AuthenticatedClient, ofOrigin } from './client.ts'
import { resolveIsoMdocRequest } from './iso-mdoc-request.ts'
import { describeQuery } from './query.ts'
import { checkFreshness, checkParameters, describeVerifier } from './request.ts'
import { invalid, type Note, readObject, type ReceivedRequest } from './request-object.ts'

const Origins = z.array(z.string()).min(1)

/** The general JWS JSON serialization (RFC 7515 §7.2.1). Unprotected headers are ignored. */
const JsonJws = z.object({
  payload: z.string(),
  signatures: z
    .array(z.object({ protected: z.string(), signature: z.string() }))
    .min(1)
    .max(10),
})

type Authenticated = { received: ReceivedRequest; client: AuthenticatedClient }

/**
 * Checks a request that the platform passes on.
 *
 * @param origin as the platform names it; nothing in the request can replace it
 * @throws {OAuthError}; {Problem} `error:ServiceUnavailable`
 */
export async function resolveDigitalRequest(
  wallet: Wallet,
  { protocol, data }: DigitalRequest,
  origin: string,
): Promise<StoredRequest> {
  const steps: Step[] = []
  const note = (step: string, detail: string) => void steps.push({ step, detail: oneLine(detail, 2_000) })
  if (protocol === isoMdoc) return { ...(await resolveIsoMdocRequest(wallet, data, origin, note)), steps }
  const { received, client } =
    protocol === 'openid4vp-v1-unsigned'
      ? readUnsigned(data, origin, note)
      : await authenticateFirst(wallet, readSigned(protocol, data, origin), note)
  const checked = checkParameters(received)
  note('query', describeQuery(checked.dcqlQuery))
  const host = URL.canParse(origin) ? new URL(origin).host : origin
  const about = describeVerifier(received, client, host)
  return { ...checked, ...about, responseUri: origin, digital: { protocol, origin }, steps }
}

/** A `client_id` in it, and `expected_origins`, are ignored (A.2). */
function readUnsigned(data: JsonObject, origin: string, note: Note): Authenticated {
  const { client_id: _ignored, ...parameters } = withoutNullMembers(data)
  note('request', `Not signed, of a page of ${origin}.`)
  return {
    received: { clientId: audienceOf(origin), parameters, origin },
    client: ofOrigin,
  }
}

/** Reads the request of one signature, which is not verified. */
type Read = () => ReceivedRequest

/** A reader for each signature. */
function readSigned(protocol: DigitalRequest['protocol'], data: JsonObject, origin: string): Read[] {
  const { request } = data
  if (protocol === 'openid4vp-v1-signed') {
    if (typeof request !== 'string') throw invalid('request is not a compact JWS.')
    const read = () => {
      const { parameters, jws } = readObject(request, '')
      return { clientId: readClientId(parameters), parameters, jws: jws!, origin }
    }
    return [read]
  }
  const { success, data: parts } = JsonJws.safeParse(request)
  if (!success) throw invalid('request is not a JWS with payload and at most 10 signatures.')
  return parts.signatures.map(({ protected: header, signature }) => () => {
    const text = [header, parts.payload, signature].join('.')
    const { parameters, jws } = readObject(text, '')
    if (['client_id', 'verifier_info'].some((name) => name in parameters))
      throw invalid('client_id and verifier_info must be in the protected headers alone (A.3.2.2).')
    return { clientId: readClientId(decodeHeader(text)), parameters, jws: jws!, origin }
  })
}

function readClientId({ client_id: clientId }: JsonObject): string {
  if (typeof clientId === 'string') return clientId
  throw invalid('client_id is missing, or not text.')
}

/** The first signature of an authenticated client that is trusted, or else the first of an authenticated one. */
async function authenticateFirst(
  wallet: Wallet,
  signatures: readonly Read[],
  note: Note,
): Promise<Authenticated> {
  const results: Authenticated[] = []
  let fault: OAuthError | undefined
  for (const read of signatures) {
    try {
      const received = read()
      const client = await authenticateClient(wallet, received.clientId, received.jws, note)
      results.push({ received, client })
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      note('client id', `not accepted: ${error.message}`)
      fault ??= error
    }
  }
  const chosen = results.find(({ client }) => client.isTrusted) ?? results[0]
  if (!chosen) throw fault!
  checkOrigin(chosen.received)
  checkFreshness(wallet, chosen.received)
  note('origin', `${chosen.received.origin!} is one of expected_origins`)
  return chosen
}

/** Another site cannot use the request (A.2). Origins are compared as text. */
function checkOrigin({ parameters, origin }: ReceivedRequest): void {
  const { success, data: origins } = Origins.safeParse(parameters['expected_origins'])
  if (!success) throw invalid('expected_origins is missing, or not an array of texts.')
  if (!origins.includes(origin!))
    throw invalid(`expected_origins does not name ${origin!}, the origin of the page.`)
}
