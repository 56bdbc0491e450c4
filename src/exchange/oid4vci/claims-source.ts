/**
 * Claims sources: endpoints of tenants that say, when a wallet requests a credential, which claims it gets.
 * Requests are signed like those to webhooks (Standard Webhooks 1.0). Their bodies are not logged.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { isPassingStatus, oneLine } from '../../foundation/foreign.ts'
import { isJsonObject, JsonError, type JsonObject, JsonValue, parseJson } from '../../foundation/json.ts'
import { isLocalHost } from '../../foundation/net/public-url.ts'
import { UnreachableError, type UnreachableCode } from '../../foundation/net/unreachable-error.ts'
import type { Config } from '../../foundation/config/config.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { type Secrets, sign } from '../../wallet/events/signature.ts'
import { readRetryAfter } from '../engine/send.ts'
import type { CredentialData } from '../issuance/model.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import type { ConfigurationRow } from './configurations.ts'

export const ClaimsSource = z
  .object({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .superRefine((text, context) => {
        const message = URL.canParse(text) ? faultOf(new URL(text)) : undefined
        if (message !== undefined) context.addIssue({ code: 'custom', message })
      })
      .describe('An https URL; http on this machine alone.'),
    onFailure: z
      .enum(['defer', 'fail'])
      .default('defer')
      .describe(
        'While the source does not answer: `defer` asks it again later, and the wallet waits; `fail` tells the wallet to request the credential again.',
      ),
    keepClaims: z
      .boolean()
      .default(true)
      .describe(
        'Whether the record keeps the claims of the source. False: they are in the credential alone.',
      ),
  })
  .meta({ id: 'ClaimsSource' })
export type ClaimsSource = z.output<typeof ClaimsSource>

function faultOf({ protocol, hostname, username, password }: URL): string | undefined {
  if (username !== '' || password !== '') return 'has a user name; the signature authenticates the agent'
  if (protocol === 'https:' || isLocalHost(hostname)) return undefined
  return 'is http for a host that is not this machine; use https'
}

/** The claims source of a configuration. Undefined: it has none. */
export function sourceOf({
  claims_source,
}: Pick<ConfigurationRow, 'claims_source'>): ClaimsSource | undefined {
  return claims_source === null ? undefined : ClaimsSource.parse(JSON.parse(claims_source))
}

/** The names on the way to a claim. */
type Names = readonly string[]

/** What a source is asked. `offered` are the claims of the offer; `wanted` are those that it may answer with. */
export type ClaimsRequest = {
  issuerId: string
  recordId: string
  configurationId: string
  credentialIdentifier: string
  purpose: 'issue' | 'refresh'
  identity?: JsonObject
  offered: JsonObject
  wanted: readonly Names[]
  wallet: { attested: boolean }
}

/**
 * What a source has answered. `unavailable`: it may answer later; `isSilent`: it gave no answer. `unusable`:
 * its tenant has to repair something. Reasons are sentences, without values of claims.
 */
export type SourceAnswer =
  | { kind: 'claims'; claims: CredentialData['claims']; validitySeconds: number | undefined; digest: string }
  | { kind: 'later'; seconds: number }
  | { kind: 'refused'; reason: string }
  | { kind: 'unavailable'; reason: string; seconds: number; isSilent?: true }
  | { kind: 'unusable'; reason: string }

const answerBytes = 262_144

/** The pause before the only repetition of a request without an answer. */
const pauseMs = 500

/** The most seconds until a source can be asked again. */
export const longestWaitSeconds = 30 * 86_400

const Filled = z.looseObject({
  claims: z.record(z.string(), JsonValue),
  validitySeconds: z.number().positive().max(1e10).nullish(),
})
const Later = z.looseObject({ retryAfter: z.int().min(1).max(longestWaitSeconds) })
const Refused = z.looseObject({ reason: z.string() })

/** Failures that another attempt does not mend. */
const lasting: readonly UnreachableCode[] = [
  'address-not-allowed',
  'bad-encoding',
  'bad-request',
  'bad-url',
  'host-denied',
  'not-text',
  'port-not-allowed',
  'too-large',
]

type Asking = {
  source: ClaimsSource
  secrets: Secrets
  /** Of one need: each repetition has the same, so that the source can answer alike. */
  id: string
  request: ClaimsRequest
}

/** A source whose last request got no answer, and whether one waits for it now. */
type Silent = { answer: SourceAnswer; isAsked: boolean }

/** The number of silent sources to remember. */
const remembered = 10_000

/** The silent sources of an agent, by issuer and URL. */
const silentSources = new WeakMap<HttpClient, LRUCache<string, Silent>>()

function silentOf(http: HttpClient): LRUCache<string, Silent> {
  const known = silentSources.get(http) ?? new LRUCache<string, Silent>({ max: remembered })
  silentSources.set(http, known)
  return known
}

/**
 * Asks a source, and once more if it does not answer. Failures of the source do not throw. While a source
 * gives no answer, one request at a time waits for it, and the others get the last failure at once.
 */
export async function askSource(
  env: { http: HttpClient; config: Pick<Config, 'OID4VCI_CLAIMS_TIMEOUT'> },
  asking: Asking,
): Promise<SourceAnswer> {
  const all = silentOf(env.http)
  const key = `${asking.request.issuerId} ${asking.source.url}`
  const silent = all.get(key)
  if (silent?.isAsked) return silent.answer
  if (silent) silent.isAsked = true
  try {
    let answer = await attempt(env, asking)
    if (answer.kind === 'unavailable' && !silent) {
      await wait(pauseMs)
      answer = await attempt(env, asking)
    }
    if (answer.kind !== 'unavailable' || !answer.isSilent) all.delete(key)
    else if (!all.has(key)) all.set(key, { answer, isAsked: false })
    return answer
  } finally {
    if (silent) silent.isAsked = false
  }
}

async function attempt(
  { http, config }: Parameters<typeof askSource>[0],
  { source, secrets, id, request }: Asking,
): Promise<SourceAnswer> {
  const body = JSON.stringify({ type: 'ClaimsRequested', ...request })
  try {
    const { status, text, retryAfter } = await http.exchange(source.url, {
      purpose: 'claims',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...sign(secrets, { id, at: new Date(), body }),
      },
      body,
      timeoutMs: config.OID4VCI_CLAIMS_TIMEOUT * 1_000,
      maxBytes: answerBytes,
    })
    return readAnswer({ status, text, retryAfter }, request.wanted)
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error
    const reason = `The claims source did not answer: ${error.message}.`
    return lasting.includes(error.code)
      ? { kind: 'unusable', reason }
      : { kind: 'unavailable', reason, seconds: 0, isSilent: true }
  }
}

type Sent = { status: number; text: string; retryAfter?: string | undefined }

/** Reads an answer by its status. */
export function readAnswer(sent: Sent, wanted: readonly Names[]): SourceAnswer {
  const { status, text } = sent
  if (status === 403 || status === 404) return { kind: 'refused', reason: toReason(status, text) }
  if (isPassingStatus(status)) {
    const seconds = Math.ceil((readRetryAfter(sent.retryAfter, Date.now()) ?? 0) / 1_000)
    return { kind: 'unavailable', reason: `The claims source answered ${status}.`, seconds }
  }
  if (status !== 200 && status !== 202) return unusable(status, 'which is none of 200, 202, 403 and 404')
  try {
    return status === 200 ? readClaims(text, wanted) : readDeferral(text)
  } catch (error) {
    if (error instanceof JsonError) return unusable(status, `and the body ${error.message}`)
    throw error
  }
}

function readClaims(text: string, wanted: readonly Names[]): SourceAnswer {
  const { success, data, error } = Filled.safeParse(parseJson(text))
  if (!success) return unusable(200, firstFault(error))
  const unwanted = findUnwanted(data.claims, wanted)
  if (unwanted)
    return unusable(
      200,
      `claims.${oneLine(unwanted.join('.'))}: was not asked for; wanted has what it may be`,
    )
  return {
    kind: 'claims',
    claims: data.claims,
    validitySeconds: data.validitySeconds ?? undefined,
    digest: digestOf(text),
  }
}

function readDeferral(text: string): SourceAnswer {
  const { success, data, error } = Later.safeParse(parseJson(text))
  return success ? { kind: 'later', seconds: data.retryAfter } : unusable(202, firstFault(error))
}

function unusable(status: number, reason: string): SourceAnswer {
  return { kind: 'unusable', reason: `The claims source answered ${status}, ${reason}.` }
}

/** The reason of a refusal is for the tenant alone, and need not be there. */
function toReason(status: number, text: string): string {
  const { data } = Refused.safeParse(tryRead(text))
  return data ? oneLine(data.reason) : `The claims source answered ${status}.`
}

function tryRead(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** The path of the first claim that is neither wanted, nor part of one, nor the way to one. */
export function findUnwanted(
  claims: JsonObject,
  wanted: readonly Names[],
  parents: Names = [],
): string[] | undefined {
  for (const [name, value] of Object.entries(claims)) {
    const path = [...parents, name]
    const below = wanted.filter((each) => path.every((part, index) => each[index] === part))
    if (below.length === 0) return path
    if (below.some((each) => each.length === path.length)) continue
    const found = isJsonObject(value) ? findUnwanted(value, wanted, path) : path
    if (found) return found
  }
  return undefined
}
