/** Resources that a DID URL names, and the envelope they come in (api.md 4.10, wire.md 8.5). */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { fromBase64, fromUtf8, toBase64url } from '../base/bytes.ts'
import { canonicalize } from '../base/jcs.ts'
import { canonicalDid, didOf, type DidDocument } from '../did/document.ts'

export const serviceName = 'agent-base-url'

export const PrismEnvelope = z
  .object({
    resource: z.string().describe('base64url of the JSON in its JCS form (RFC 8785).'),
    url: z.string().describe('The DID URL of the resource: who publishes it, where, and its digest.'),
  })
  .meta({ id: 'PrismEnvelope' })
export type PrismEnvelope = z.output<typeof PrismEnvelope>

/** Puts a resource that a DID's agent serves at a path into its envelope. */
export function toEnvelope(did: string, path: string, resource: object): PrismEnvelope {
  const text = toText(resource)
  // The second question mark is the real agent's.
  return {
    resource: text,
    url: `${did}?resourceService=${serviceName}&resourcePath=${path}?resourceHash=${hashOf(text)}`,
  }
}

/** The JSON in an envelope, with its digest; an answer that is in none is itself. @throws {SyntaxError} when it is no JSON. */
export function openEnvelope(answer: unknown): { resource: unknown; hash: () => string } {
  const { success, data } = PrismEnvelope.safeParse(answer)
  if (!success) return { resource: answer, hash: () => hashOf(toText(answer)) }
  try {
    return { resource: JSON.parse(fromUtf8(fromBase64(data.resource))), hash: () => hashOf(data.resource) }
  } catch (cause) {
    throw new SyntaxError('the resource in the envelope is not base64url of JSON', { cause })
  }
}

/** What a DID URL says of a resource. */
export type ResourceUrl = { did: string; service: string; path: string; hash: string | undefined }

/**
 * Takes a DID URL apart: with the parameters of the real agent, or those of DID Core §3.2.1.
 *
 * Nothing when it is no DID URL; a `SyntaxError` when it is one and names no resource.
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

/** Where a resource is: its path below the endpoint of the service. @throws {SyntaxError} when the DID has no such service. */
export function locate({ did, service, path }: ResourceUrl, document: DidDocument): string {
  const found = document.service?.find(({ id }) => {
    const owner = didOf(id)
    return (
      id.slice(owner.length) === `#${service}` && (owner === '' || canonicalDid(owner) === canonicalDid(did))
    )
  })
  if (!found) throw new SyntaxError(`the DID has no service with the id #${service}`)
  const [endpoint] = [found.serviceEndpoint].flat()
  const uri = typeof endpoint === 'string' ? endpoint : endpoint?.['uri']
  if (typeof uri !== 'string') throw new SyntaxError(`the DID's service #${service} has no address`)
  return `${uri.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

/** The digest of a resource as DID URLs carry it: SHA-256 of its base64url text, in hexadecimal (wire.md 8.5). */
function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

function toText(resource: unknown): string {
  return toBase64url(canonicalize(resource))
}
