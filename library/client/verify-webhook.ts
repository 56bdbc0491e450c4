/** Verifies webhook requests of the agent (Standard Webhooks 1.0). */
import { WebhookError } from './errors.ts'
import type { AgentEvent } from './events.ts'

/** The headers of a request: those of `fetch`, of node:http, or of a framework. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export type VerifyOptions = {
  /** The largest difference between the clocks plus the time on the way, in seconds. Default: 300. */
  toleranceSeconds?: number | undefined
}

/** A sender that rotates its secret signs with two. */
const maxSignatures = 10

/**
 * Verifies a request of a webhook that was made with `signed`, and returns its event. For a webhook with a
 * `batch`, use `verifyWebhookBatch`. `rawBody` is the body
 * as received, before any JSON parser. `secrets` is the secret of the webhook (`whsec_…`), or several of
 * which one must have signed.
 *
 * The event may come twice: store `event.id`, and ignore an id that is known.
 *
 * @throws {WebhookError} when the request is not to be trusted. @throws {TypeError} for a secret that is
 * none.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<AgentEvent> {
  const content = await verify(headers, rawBody, secrets, options)
  if (Array.isArray(content))
    throw new WebhookError('body', 'The body is an array of events; verifyWebhookBatch returns them.')
  return toEvent(content)
}

/**
 * As `verifyWebhook`, for any webhook: returns the events of a request, of which a webhook with a `batch` has
 * several. If one of them cannot be handled, answer with an error: the request comes again as it was.
 */
export async function verifyWebhookBatch(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<AgentEvent[]> {
  const content = await verify(headers, rawBody, secrets, options)
  return (Array.isArray(content) ? (content as unknown[]) : [content]).map(toEvent)
}

/** Verifies a request, and parses its body. @throws {WebhookError} */
async function verify(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions,
): Promise<unknown> {
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(toKey)
  if (keys.length === 0) throw new TypeError('secrets: it is empty; give the secret of the webhook.')
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = toSignatures(headerOf(headers, 'webhook-signature'))
  const age = Date.now() / 1_000 - Number(timestamp)
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('headers', 'The header webhook-timestamp is not a number of seconds.')
  if (Math.abs(age) > toleranceSeconds) {
    const when = age > 0 ? 'older' : 'further in the future'
    throw new WebhookError('timestamp', `The request is ${when} than ${toleranceSeconds} s.`)
  }
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  if (!ArrayBuffer.isView(body))
    throw new TypeError(
      'rawBody: it is neither a text nor bytes; give the body as received, before any JSON parser.',
    )
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  if (!(await isSigned(signed, keys, signatures)))
    throw new WebhookError('signature', 'No signature of the request is by the secret of the webhook.')
  return parse(body)
}

/** `crypto.subtle.verify` compares in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  keys: readonly Uint8Array<ArrayBuffer>[],
  signatures: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const { subtle } = globalThis.crypto
  let isFound = false
  for (const key of keys) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const imported = await subtle.importKey('raw', key, algorithm, false, ['verify'])
    for (const signature of signatures)
      isFound = (await subtle.verify('HMAC', imported, signature, signed)) || isFound
  }
  return isFound
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const given =
    typeof headers['get'] === 'function'
      ? (headers as { get(name: string): string | null | undefined }).get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const value: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given
  if (typeof value === 'string' && value !== '') return value
  const hint = name === 'webhook-signature' ? ': make the webhook with signed, and it signs its requests' : ''
  throw new WebhookError('headers', `The header ${name} is missing, or is there twice${hint}.`)
}

/** The signatures of version 1; others are ignored. */
function toSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ', maxSignatures)
    .filter((each) => each.startsWith('v1,'))
    .map((each) => tryDecode(each.slice('v1,'.length)))
    .filter((each) => each !== undefined)
}

/** @throws {TypeError} without the secret */
function toKey(secret: unknown): Uint8Array<ArrayBuffer> {
  const text = typeof secret === 'string' ? secret.trim() : ''
  const bytes = text.startsWith('whsec_') ? tryDecode(text.slice('whsec_'.length)) : undefined
  if (bytes && bytes.length >= 24) return bytes
  throw new TypeError(
    'secrets: it is not the secret of a webhook; it begins with whsec_, and `agent webhook secret` makes one.',
  )
}

function tryDecode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** @throws {WebhookError} */
function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new WebhookError('body', 'The body is not JSON.')
  }
}

/** @throws {WebhookError} */
function toEvent(event: unknown): AgentEvent {
  const { type, id, data } = (event ?? {}) as { type?: unknown; id?: unknown; data?: unknown }
  if (typeof type === 'string' && typeof id === 'string' && typeof data === 'object' && data !== null)
    return event as AgentEvent
  throw new WebhookError('body', 'The body is not an event of an agent.')
}
