/**
 * did:web (W3C CCG, "did:web Method Specification"): a DID whose host serves the document, at
 * `/.well-known/did.json` or below the DID's path.
 *
 * Peers choose the host (SSRF). The HTTP client enforces which addresses may be called. Errors never contain
 * the response.
 */
import { isIP } from 'node:net'
import { isPassingStatus } from '../foundation/foreign.ts'
import { Problem } from '../foundation/problem.ts'
import { reasonOf } from '../foundation/reason.ts'
import type { DidDocument } from './document.ts'
import { readDidDocument } from './foreign-document.ts'
import { invalidDid } from './resolution.ts'

const invalid = invalidDid('web')

/** The part of `HttpClient` that is used. Its errors have the `code` of `UnreachableError`. */
export type WebClient = {
  exchange: (url: string, request: WebRequest) => Promise<{ status: number; text: string }>
}
type WebRequest = {
  purpose: 'did-web'
  method: 'GET'
  headers: Record<string, string>
  timeoutMs: number
  maxBytes: number
}

export type WebOptions = {
  http: WebClient
  /** Allows localhost and loopback addresses, with plain http. For development. */
  allowsLoopback?: boolean
}

const timeoutMs = 5_000
const maxBytes = 262_144
const accept = 'application/did+ld+json, application/did+json, application/json;q=0.9'

/** Limits on the nesting of a document and the length of a DID. */
const maxDepth = 32
const maxLength = 2_000

/** Reasons of permanent failures, by error code. */
const finalReasons: Readonly<Record<string, string>> = {
  'address-not-allowed': 'its host has an address that this agent does not call',
  'host-denied': 'its host is denied by the configuration',
  'port-not-allowed': 'its host has a port that this agent does not call',
  'bad-url': 'it names no valid URL',
  'no-such-host': 'its host does not exist',
  'bad-encoding': 'the content encoding of its response is wrong, or not supported here',
  'not-text': 'the response of its host is not UTF-8',
  'too-large': `its document is larger than ${maxBytes} bytes`,
}

/**
 * Resolves a did:web.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid` for a malformed DID, `…:notFound` when the host has no
 * valid document of the DID, and `error:ServiceUnavailable` when the host cannot be reached, times out, or
 * answers with 5xx.
 */
export async function resolveWebDid(
  did: string,
  { http, allowsLoopback = false }: WebOptions,
): Promise<DidDocument> {
  const url = toUrl(did, allowsLoopback)
  const request: WebRequest = { purpose: 'did-web', method: 'GET', headers: { accept }, timeoutMs, maxBytes }
  const { status, text } = await http.exchange(url, request).catch((error: unknown) => fail(did, error))
  if (status === 200) return readDocument(did, text)
  if (isPassingStatus(status)) throw unavailable(did, `its host answered with status ${status}`)
  if (status >= 300 && status < 400)
    throw notFound(did, 'its host answered with a redirect, which is not followed')
  throw notFound(did, `its host answered with status ${status}`)
}

/**
 * The URL of a did:web's document (did:web Method Specification, "Read (Resolve)"). The colon of the port is
 * percent-encoded.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid`
 */
export function toUrl(did: string, allowsLoopback = false): string {
  const text = did.length <= maxLength ? /^did:web:([A-Za-z0-9._:%-]+)$/.exec(did)?.[1] : undefined
  if (text === undefined)
    throw invalid(did, 'it is not did:web:, a host and a path of letters, digits and .-_:%')
  const [host = '', ...path] = text.split(':')
  const origin = toOrigin(did, host.replace(/%3A(?=\d{1,5}$)/i, ':'), allowsLoopback)
  if (!path.every(isSegment))
    throw invalid(did, 'a part of its path is empty, a dot, or contains a separator')
  return `${origin}/${path.length > 0 ? path.join('/') : '.well-known'}/did.json`
}

function toOrigin(did: string, host: string, allowsLoopback: boolean): string {
  const plain = host.replace(/^%5B([0-9a-f]|%3A)+%5D/i, decodeURIComponent)
  if (
    !/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/i.test(plain) ||
    !URL.canParse(`https://${plain}`)
  ) {
    throw invalid(
      did,
      'its first part is neither a host name, nor a host name and a port with %3A between them',
    )
  }
  // `URL` normalises every spelling of an IP address, such as `127.1`.
  const { hostname } = new URL(`https://${plain}`)
  const isLoopback =
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  if (allowsLoopback && isLoopback) return `http://${plain}`
  if (hostname.startsWith('[') || isIP(hostname) !== 0)
    throw invalid(did, 'its host is an IP address; a did:web names a domain')
  return `https://${plain}`
}

/** True for a single path segment, percent-encoded or not: no separators, and neither `.` nor `..`. */
function isSegment(segment: string): boolean {
  try {
    const name = decodeURIComponent(segment)
    return !/^\.{0,2}$/.test(name) && !/[/\\?#\p{Cc}]/u.test(name)
  } catch {
    return false
  }
}

function readDocument(did: string, text: string): DidDocument {
  try {
    const value: unknown = JSON.parse(text)
    if (!isShallow(value, maxDepth)) throw new TypeError(`it nests deeper than ${maxDepth}`)
    const document = readDidDocument(value)
    if (document.id === did) return document
  } catch (error) {
    // The words of JSON.parse quote what it read.
    throw notFound(
      did,
      `the response of its host is not a DID document: ${error instanceof SyntaxError ? 'it is not JSON' : reasonOf(error)}`,
    )
  }
  throw notFound(did, 'the document of its host has another id')
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1))
}

function fail(did: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === undefined) throw error
  const reason = Object.hasOwn(finalReasons, code) ? finalReasons[code] : undefined
  if (reason !== undefined) throw notFound(did, reason)
  throw unavailable(
    did,
    code === 'timeout' ? 'its host did not answer in time' : 'its host could not be reached',
  )
}

function notFound(did: string, reason: string): Problem {
  return new Problem('error:DIDResolution:notFound', `${did.slice(0, 100)} has no document: ${reason}`)
}

function unavailable(did: string, reason: string): Problem {
  return new Problem('error:ServiceUnavailable', `${did.slice(0, 100)} cannot be resolved now: ${reason}`)
}
