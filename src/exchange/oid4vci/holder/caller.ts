/**
 * Requests of a wallet to issuers and authorization servers, by the guarded HTTP client: without redirects,
 * and with limits of time and size. Each request is noted without its content.
 */
import * as z from 'zod'
import { isPassingStatus, oneLine, readForeign } from '../../../foundation/foreign.ts'
import { tryParseJson } from '../../../foundation/json.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { isOutage } from '../../../foundation/net/destinations.ts'
import type { Exchanged } from '../../../foundation/net/http-client.ts'
import { UnreachableError } from '../../../foundation/net/unreachable-error.ts'
import type { IssuerCall } from '../../issuance/openid4vci.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { type Answer, describe, toAnswer } from './answer.ts'
import { type AttestedClient, toClientHeaders } from './client-proof.ts'
import { createDpopProof, type DpopKey } from './dpop-proof.ts'

const limits = { timeoutMs: 10_000, maxBytes: 1_048_576 }

const challengeHeader = 'oauth-client-attestation-challenge'

/** The number of calls that a record keeps. */
const maxCalls = 50

/** The wallet, and the calls of its flow so far. */
export type Caller = { wallet: Wallet; calls: IssuerCall[] }

/** The body of a request, the attested client, and the access token with the key that it is bound to. */
export type Sending = {
  form?: Record<string, string | undefined>
  json?: object
  /** An encrypted request. */
  jwt?: string
  client?: AttestedClient | undefined
  accessToken?: string
  dpopKey?: DpopKey | undefined
}

/** A JSON document, or why there is none at its URL; `fault` continues "it …". */
export type Found = { document: unknown } | { fault: string; status: number }

/** Reads a JSON document. @throws {Problem} as `post` */
export async function getDocument(caller: Caller, url: string): Promise<Found> {
  const { status, text } = await call(caller, 'GET', url, { accept: 'application/json' })
  requireFinal(url, status)
  if (status >= 300 && status < 400)
    return { status, fault: `redirects with status ${status}, which is not followed` }
  if (status !== 200) return { status, fault: `answers with status ${status}` }
  const document = tryParseJson(text)
  return document === undefined ? { status, fault: 'is not JSON' } : { document }
}

/** Reads the bytes of a document. @throws {Problem} as `post`, and for any status except 200 */
export async function getBytes(caller: Caller, url: string): Promise<Uint8Array> {
  const { status, text } = await call(
    caller,
    'GET',
    url,
    { accept: 'application/json' },
    { encoding: 'base64' },
  )
  requireFinal(url, status)
  if (status !== 200) throw refused(url, `it answered with status ${status}`)
  return Buffer.from(text, 'base64')
}

/** @throws {Problem} `error:ServiceUnavailable` if another attempt may succeed */
function requireFinal(url: string, status: number): void {
  if (isPassingStatus(status)) throw unavailable(url, `it answered with status ${status}`)
}

/**
 * A value of the server that a repeated request must have: the nonce of its DPoP proof, or the challenge of
 * its attestation proof.
 */
type Demands = { nonce?: string | undefined; challenge?: string | undefined }

/**
 * Sends a form, JSON or a JWT. A server may demand its nonce in the DPoP proof (RFC 9449 §8) and its
 * challenge in the proof of the wallet attestation; the request is then repeated, once for each.
 *
 * @throws {Problem} `error:ServiceUnavailable` if another attempt may succeed, `IssuerRefused` if the URL
 * cannot be called
 */
export async function post(caller: Caller, url: string, sending: Sending): Promise<Answer> {
  let demands: Demands = {}
  let answer = await send(caller, url, sending, demands)
  for (;;) {
    const next = demandOf(answer, sending)
    if (!next || Object.keys(next).every((name) => name in demands)) break
    demands = { ...demands, ...next }
    answer = await send(caller, url, sending, demands)
  }
  requireFinal(url, answer.status)
  return toAnswer(answer)
}

/** Undefined if the server demands nothing that the request could have. */
function demandOf(response: Exchanged, { dpopKey, client }: Sending): Demands | undefined {
  if (![400, 401].includes(response.status)) return undefined
  const { 'dpop-nonce': nonce, [challengeHeader]: challenge } = response.headers ?? {}
  if (dpopKey && nonce !== undefined && isNonceDemand(response)) return { nonce }
  const isChallenged = toAnswer(response).error === 'use_attestation_challenge'
  return client && challenge !== undefined && isChallenged ? { challenge } : undefined
}

function send(
  caller: Caller,
  url: string,
  sending: Sending,
  { nonce, challenge }: Demands,
): Promise<Exchanged> {
  const { form, json, jwt, client, accessToken, dpopKey } = sending
  const dpop = dpopKey && createDpopProof(dpopKey, { url, accessToken, nonce })
  const headers = {
    accept: jwt === undefined ? 'application/json' : 'application/json, application/jwt',
    ...(accessToken !== undefined && { authorization: `${dpop ? 'DPoP' : 'Bearer'} ${accessToken}` }),
    ...(dpop !== undefined && { dpop }),
    ...(client && toClientHeaders(client, challenge)),
    ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(json && { 'content-type': 'application/json' }),
    ...(jwt !== undefined && { 'content-type': 'application/jwt' }),
  }
  const body = form ? toForm(form) : json ? JSON.stringify(json) : jwt
  return call(caller, 'POST', url, headers, { body })
}

async function call(
  { wallet, calls }: Caller,
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string>,
  { body, encoding }: { body?: string | undefined; encoding?: 'base64' } = {},
): Promise<Exchanged> {
  requireSafe(wallet, url)
  const note = (outcome: string) => {
    const { origin, pathname } = new URL(url)
    calls.push({ at: new Date().toISOString(), method, url: (origin + pathname).slice(0, 300), outcome })
    if (calls.length > maxCalls) calls.splice(0, calls.length - maxCalls)
  }
  try {
    const keptHeaders = ['dpop-nonce', 'www-authenticate', challengeHeader]
    const request = { method, headers, ...limits, keptHeaders, purpose: 'document' as const }
    const more = { ...(body !== undefined && { body }), ...(encoding && { encoding }) }
    const response = await wallet.env.http.exchange(url, { ...request, ...more })
    const error = response.status < 400 ? undefined : toAnswer(response).error
    note(error === undefined ? String(response.status) : `${response.status} ${error}`)
    return response
  } catch (cause) {
    if (!(cause instanceof UnreachableError)) throw cause
    note(cause.message)
    throw isOutage(cause) ? unavailable(url, cause.message, cause) : refused(url, cause.message, cause)
  }
}

/**
 * VCI §12.2.4 and RFC 8414 require https. Without it, only this machine is called, or with the setting for
 * tests any host. A user name before the host looks like another host, and is not part of identifiers and
 * endpoints (VCI §12.2.1).
 */
export function requireSafe({ env }: Wallet, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && parsed.username + parsed.password !== '')
    throw refused(url, 'its URL has a user name before the host. The issuer has to leave it out')
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(parsed?.hostname ?? '')
  const isAllowed = isLocal || env.config.AGENT_ALLOW_PRIVATE_NETWORK
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isAllowed)) return
  throw refused(
    url,
    parsed?.host
      ? 'it is not https, which the protocol requires for hosts other than this machine. The issuer has to offer https'
      : 'it is not a URL with https, which the protocol requires',
  )
}

function isNonceDemand(response: Exchanged): boolean {
  return (
    toAnswer(response).error === 'use_dpop_nonce' ||
    (response.headers?.['www-authenticate'] ?? '').includes('use_dpop_nonce')
  )
}

function toForm(form: Record<string, string | undefined>): string {
  const given = Object.entries(form).filter((each): each is [string, string] => each[1] !== undefined)
  return new URLSearchParams(given).toString()
}

/**
 * Reads a successful answer.
 *
 * @throws {Problem} `IssuerRefused` with `refusal` if it is not one, or naming the member
 */
export function readAnswer<Type extends z.ZodType>(
  type: Type,
  answer: Answer,
  url: string,
  refusal = describe(answer),
): z.output<Type> {
  if (answer.status >= 300) throw refused(url, refusal)
  const parsed = readForeign(type, answer.body)
  if (parsed.success) return parsed.data
  throw refused(url, `its response is not valid: ${reasonOf(parsed.error)}`, parsed.error)
}

/** The host of a URL as it may be shown, or the URL if it has none. */
function hostOf(url: string): string {
  return (URL.canParse(url) && new URL(url).host) || oneLine(url, 100)
}

/** `reason` continues a sentence, as in the functions below. It may have texts of the other side. */
export function unavailable(url: string, reason: string, cause?: unknown): Problem {
  return new Problem(
    'error:ServiceUnavailable',
    `The issuer’s server ${hostOf(url)} is not available now: ${oneLine(reason, 1_000)}. Try again later.`,
    { cause },
  )
}

export function refused(url: string, reason: string, cause?: unknown): Problem {
  return new Problem(
    'error:OID4VCIHolderError:IssuerRefused',
    `The request to ${hostOf(url)} failed: ${oneLine(reason, 1_000)}.`,
    { cause },
  )
}

export function invalidMetadata(url: string, reason: string, cause?: unknown): Problem {
  return new Problem(
    'error:OID4VCIHolderError:InvalidIssuerMetadata',
    `The metadata at ${oneLine(url)} cannot be used: ${oneLine(reason, 1_000)}. The issuer has to correct them.`,
    { cause },
  )
}
