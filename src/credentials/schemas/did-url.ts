/** DID URLs of resources, and the envelope in which the Cloud Agent API returns such resources. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { fromBase64, fromUtf8, toBase64url } from '../../foundation/bytes.ts'
import { canonicalize } from '../../foundation/json.ts'
import { canonicalDid, didOf, type DidDocument } from '../../did/document.ts'

export const serviceName = 'agent-base-url'

export const PrismEnvelope = z
  .object({
    resource: z.string().describe('base64url of the JSON in its canonical form (JCS, RFC 8785).'),
    url: z.string().describe('The DID URL of the resource: publisher, service, path and digest.'),
  })
  .meta({ id: 'PrismEnvelope' })
export type PrismEnvelope = z.output<typeof PrismEnvelope>

/** Wraps a resource that the agent of a DID serves at a path. */
export function toEnvelope(did: string, path: string, resource: object): PrismEnvelope {
  const text = toText(resource)
  // The Cloud Agent writes the second question mark.
  return {
    resource: text,
    url: `${did}?resourceService=${serviceName}&resourcePath=${path}?resourceHash=${hashOf(text)}`,
  }
}

/**
 * Unwraps a resource, with its digest. A body that is not an envelope is the resource itself.
 *
 * @throws {SyntaxError} when it is not JSON.
 */
export function openEnvelope(body: unknown): { resource: unknown; hash: () => string } {
  const { success, data } = PrismEnvelope.safeParse(body)
  if (!success) return { resource: body, hash: () => hashOf(toText(body)) }
  try {
    return { resource: JSON.parse(fromUtf8(fromBase64(data.resource))), hash: () => hashOf(data.resource) }
  } catch (cause) {
    throw new SyntaxError('the resource in the envelope is not base64url of JSON', { cause })
  }
}

/** The parts of a DID URL. `hash` is the expected digest, in lower-case hexadecimal. */
export type ResourceUrl = { did: string; service: string; path: string; hash: string | undefined }

/**
 * Parses a DID URL with the parameters of the Cloud Agent, or with those of DID Core §3.2.1. Returns
 * undefined for other URLs.
 *
 * @throws {SyntaxError} when the DID URL names no resource.
 */
export function parseResourceUrl(url: string): ResourceUrl | undefined {
  if (!/^did:[a-z0-9]+:/.test(url)) return undefined
  const did = didOf(url)
  const [, ...queries] = url.slice(did.length).replace(/#.*$/s, '').split('?')
  const parameters = new URLSearchParams(queries.join('&'))
  const service = parameters.get('resourceService') ?? parameters.get('service')
  const path = parameters.get('resourcePath') ?? parameters.get('relativeRef')
  if (service === null || path === null)
    throw new SyntaxError('the DID URL names no resource with resourceService and resourcePath')
  return { did, service, path, hash: parameters.get('resourceHash')?.toLowerCase() }
}

/**
 * The URL of a resource: its path below the service's endpoint.
 *
 * @throws {SyntaxError} when the DID has no such service.
 */
export function toUrl({ did, service, path }: ResourceUrl, document: DidDocument): string {
  const entry = document.service?.find(({ id }) => {
    const owner = didOf(id)
    return (
      id.slice(owner.length) === `#${service}` && (owner === '' || canonicalDid(owner) === canonicalDid(did))
    )
  })
  if (!entry) throw new SyntaxError(`the DID has no service with the id #${service}`)
  const [endpoint] = [entry.serviceEndpoint].flat()
  const uri = typeof endpoint === 'string' ? endpoint : endpoint?.['uri']
  if (typeof uri !== 'string') throw new SyntaxError(`the DID's service #${service} has no address`)
  return `${uri.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

/** The digest in a DID URL: SHA-256 of the resource's base64url text, in hexadecimal. */
function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

function toText(resource: unknown): string {
  return toBase64url(canonicalize(resource))
}
