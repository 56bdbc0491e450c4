/**
 * What another agent or a person has handed over as a link, a text or JSON: of which kind it is, who asks,
 * and what answers it. Reading it stores nothing, and sends only the request for the content of a link.
 */
import * as z from 'zod'
import { resolvePeerDid } from '../did/peer.ts'
import {
  checkInvitation,
  parseInvitation,
  readInvitation,
  type OutOfBandInvitation,
} from '../exchange/didcomm/invitation.ts'
import { findEndpoint } from '../exchange/didcomm/route.ts'
import { Challenge, challengeType } from '../exchange/enterprise/authentication.ts'
import { type DidRequest, didRequestType } from '../exchange/enterprise/onboarding.ts'
import { AnswerableChallenge, AnswerableDidRequest } from '../exchange/enterprise/respond.ts'
import { readGivenOffer } from '../exchange/oid4vci/holder/given-offer.ts'
import { readGivenRequest, toRequestLink } from '../exchange/oid4vp/holder/given-request.ts'
import { purposeIn } from '../exchange/protocols/out-of-band.ts'
import { oneLine } from '../foundation/foreign.ts'
import { isJsonObject, type JsonObject, JsonError, parseJson, tryParseJson } from '../foundation/json.ts'
import { findShortUrl } from '../foundation/net/short-url.ts'
import { UnreachableError } from '../foundation/net/unreachable-error.ts'
import { Problem } from '../foundation/problem.ts'
import { reasonOf } from '../foundation/reason.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** A challenge; those of others may have no end. */
export const GivenChallenge = Challenge.partial({ expireAt: true })
type GivenChallenge = z.infer<typeof GivenChallenge>

/** By purpose: the operation that answers it. */
const answers = {
  connection: 'POST /connection-invitations',
  offer: 'POST /issue-credentials/credential-offers/accept-invitation',
  request: 'POST /present-proof/presentations/accept-invitation',
  'did-request': 'POST /onboard/answers',
  challenge: 'POST /did-authentication/answers',
  'openid4vci-offer': 'POST /issue-credentials/records/openid4vci',
  'openid4vp-request': 'POST /present-proof/presentations/openid4vp/requests',
} as const
export type Incoming = {
  purpose: keyof typeof answers
  answer: { method: string; path: string; body: JsonObject }
  /** The address is where the answer goes; the name is what the sender calls itself. */
  sender: { name?: string; address?: string }
  goal?: string
  expiresAt?: string
  invitation?: OutOfBandInvitation
  oob?: string
  didRequest?: DidRequest
  challenge?: GivenChallenge
}
export const purposes = Object.keys(answers) as [Incoming['purpose'], ...Incoming['purpose'][]]

const limits = { timeoutMs: 10_000, maxBytes: 262_144 }
const requestType = 'application/oauth-authz-req+jwt'

/** Documents in documents, such as the JSON that a command prints. */
const deepest = 3

/**
 * Recognises a text.
 *
 * @throws {Problem} `InvitationParsingError` for other texts, `RetrievalFailed` for a link without content
 */
export async function readIncoming(wallet: Wallet, given: string, depth = deepest): Promise<Incoming> {
  const text = given.trim().replace(/^"(.*)"$/s, '$1')
  if (text.startsWith('{')) return fromJson(wallet, text, depth)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return fromInvitation(parseInvitation(text))
  if (!URL.canParse(text)) throw unreadable('the URL is not valid')
  const url = new URL(text)
  const has = (...names: string[]) => names.some((name) => url.searchParams.has(name))
  const shortUrl = findShortUrl(text)
  if (shortUrl) return fromDocument(wallet, await wallet.env.retrieve(shortUrl), shortUrl, depth)
  if (has('_oob', 'oob', 'c_i', 'd_m')) return fromInvitation(parseInvitation(text))
  if (has('credential_offer', 'credential_offer_uri')) return fromOffer(text)
  if (has('request_uri', 'request', 'dcql_query', 'client_id', 'presentation_definition'))
    return fromRequest(text)
  if (!/^https?:$/.test(url.protocol))
    throw unreadable(
      `a link of the scheme ${oneLine(url.protocol.slice(0, -1), 40)} without a known parameter`,
    )
  return fromWeb(wallet, url, depth)
}

/** A link whose content is elsewhere, such as that of an offer by reference. */
async function fromWeb(wallet: Wallet, url: URL, depth: number): Promise<Incoming> {
  const { status, text } = await retrieve(wallet, url)
  if (status === 404 || status === 410)
    throw failed(
      `${url.host} does not have it: it was used or withdrawn, or it has expired. Ask for a new one.`,
    )
  if (status !== 200) throw failed(`${url.host} answered with status ${status}.`)
  const content = text.trim()
  const clientId = clientIdOf(content)
  if (clientId !== undefined)
    return fromRequest(toRequestLink({ client_id: clientId, request_uri: url.href }))
  const document = tryParseJson(content)
  if (document === undefined)
    throw unreadable(
      `${url.host} returned neither JSON nor a request. A page of a website is no link for wallets`,
    )
  if (isJsonObject(document) && 'credential_issuer' in document && 'grants' in document)
    return fromOffer(url.href)
  return fromDocument(wallet, document, url, depth)
}

async function retrieve({ env }: Wallet, url: URL) {
  const accept = `${requestType}, application/json;q=0.9`
  try {
    return await env.http.exchange(url.href, {
      method: 'GET',
      headers: { accept },
      ...limits,
      purpose: 'document',
    })
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error
    throw failed(`${error.message.replace(/\.$/, '')}.`, error)
  }
}

/** The client of a signed request (RFC 9101). Its signature is checked when the request is received. */
function clientIdOf(text: string): string | undefined {
  const [header, payload] = text
    .split('.', 2)
    .map((part) => tryParseJson(Buffer.from(part, 'base64url').toString()))
  const isRequest = isJsonObject(header) && header['typ'] === 'oauth-authz-req+jwt'
  if (!isRequest || !isJsonObject(payload)) return undefined
  return typeof payload['client_id'] === 'string' ? payload['client_id'] : undefined
}

function fromJson(wallet: Wallet, text: string, depth: number): Promise<Incoming> {
  try {
    return fromDocument(wallet, parseJson(text), undefined, depth)
  } catch (error) {
    if (error instanceof JsonError) throw unreadable(`the JSON ${error.message}`, error)
    throw error
  }
}

/** `url` is where the document was retrieved. */
async function fromDocument(
  wallet: Wallet,
  document: unknown,
  url: URL | undefined,
  depth: number,
): Promise<Incoming> {
  if (typeof document === 'string') return fromInvitation(parseInvitation(document))
  if (!isJsonObject(document)) throw unreadable('it is JSON, but not an object')
  if (depth === 0) throw unreadable('it is nested too deeply')
  if ('onboardEndpoint' in document) return fromDidRequest(document)
  if ('submissionEndpoint' in document) return fromChallenge(document)
  if ('credential_configuration_ids' in document) return fromOffer(JSON.stringify(document))
  if ('client_id' in document) return fromRequest(toRequestLink(document))
  if ('type' in document || '@type' in document) {
    if (!url) checkInvitation(document)
    return fromInvitation(readInvitation(document, url?.host ?? ''))
  }
  const inner = innerOf(document)
  if (inner !== undefined)
    return typeof inner === 'string'
      ? readIncoming(wallet, inner, depth - 1)
      : fromDocument(wallet, inner, url, depth - 1)
  const members = Object.keys(document).slice(0, 8).join(', ')
  throw unreadable(`it is JSON of an unknown kind, with the members ${oneLine(members, 200) || '(none)'}`)
}

/** The link or document in a record, as commands print it with `--json`. */
function innerOf(document: JsonObject): string | JsonObject | undefined {
  const { didRequest, challenge, credentialOffer, invitation, openid4vp } = document
  const nested = [didRequest, challenge].find(isJsonObject)
  if (nested) return nested
  const { shortUrl, invitationUrl } = isJsonObject(invitation) ? invitation : document
  const { authorizationRequest } = isJsonObject(openid4vp) ? openid4vp : document
  const texts = [credentialOffer, authorizationRequest, shortUrl, invitationUrl]
  return texts.find((each) => typeof each === 'string')
}

function fromInvitation({ invitation, oob }: ReturnType<typeof parseInvitation>): Incoming {
  const { body, from, expires_time: expires } = invitation
  const address = findHost(from)
  return {
    ...toIncoming(purposeIn(invitation) ?? 'connection', { invitation: oob }),
    sender: { ...(address !== undefined && { address }) },
    ...(body.goal !== undefined && { goal: body.goal }),
    ...(expires !== undefined && { expiresAt: new Date(expires * 1_000).toISOString() }),
    invitation,
    oob,
  }
}

/** The host of a did:peer's service. Undefined for other DIDs, which would need a network call. */
export function findHost(did: string): string | undefined {
  try {
    const url = findEndpoint(resolvePeerDid(did))
    return url && new URL(url).host
  } catch {
    return undefined
  }
}

function fromDidRequest(document: JsonObject): Incoming {
  const didRequest = { ...read('DID request', AnswerableDidRequest, document), type: didRequestType } as const
  const { from, onboardEndpoint } = didRequest
  return { ...toIncoming('did-request', { didRequest }), sender: senderOf(from, onboardEndpoint), didRequest }
}

function fromChallenge(document: JsonObject): Incoming {
  const { expireAt } = document
  const challenge = {
    ...read('challenge', AnswerableChallenge, document),
    type: challengeType,
    ...(isTime(expireAt) && { expireAt }),
  } as const
  return {
    ...toIncoming('challenge', { challenge }),
    sender: senderOf(challenge.from, challenge.submissionEndpoint),
    ...(isTime(expireAt) && { expiresAt: expireAt }),
    challenge,
  }
}

function fromOffer(credentialOffer: string): Incoming {
  const { issuer } = readGivenOffer(credentialOffer)
  return { ...toIncoming('openid4vci-offer', { credentialOffer }), sender: senderOf(undefined, issuer) }
}

function fromRequest(authorizationRequest: string): Incoming {
  const { clientId, url } = readGivenRequest(authorizationRequest)
  return { ...toIncoming('openid4vp-request', { authorizationRequest }), sender: senderOf(clientId, url) }
}

function toIncoming(purpose: Incoming['purpose'], body: JsonObject) {
  const [method, path] = answers[purpose].split(' ') as [string, string]
  return { purpose, answer: { method, path, body } }
}

/** Texts of the sender are one line. */
function senderOf(name: string | undefined, url: string | undefined): Incoming['sender'] {
  return {
    ...(name !== undefined && { name: oneLine(name, 300) }),
    ...(url !== undefined && { address: new URL(url).host }),
  }
}

function read<Type extends z.ZodType>(noun: string, type: Type, document: JsonObject): z.output<Type> {
  const parsed = type.safeParse(document)
  if (parsed.success) return parsed.data
  throw unreadable(`it is a ${noun}, and ${reasonOf(parsed.error)}`)
}

const isTime = (text: unknown): text is string => z.iso.datetime().safeParse(text).success

function failed(reason: string, cause?: unknown): Problem {
  const detail = `The content of the link could not be retrieved: ${reason}`
  return new Problem('error:ShortLinkError:RetrievalFailed', detail, { cause })
}

function unreadable(reason: string, cause?: unknown): Problem {
  return new Problem(
    'error:ConnectionServiceError:InvitationParsingError',
    `This is no invitation, offer or request that an agent can answer: ${reason}.`,
    { cause },
  )
}
