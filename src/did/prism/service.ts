/**
 * Services of a did:prism between their two forms: what a DID document shows (a type or several, an endpoint that is a
 * URI, an object or a list) and the two texts an operation carries (wire.md 11.3).
 */
import type { Service } from '../document.ts'
import type { PrismService } from './model.ts'

type Endpoint = Service['serviceEndpoint']

/** The texts of a service: one name or URI plain, anything else as JSON. URIs are normalised, as the real agent does before it signs. */
export function toPrismService({
  id,
  type,
  serviceEndpoint,
}: Pick<Service, 'id' | 'type' | 'serviceEndpoint'>): PrismService {
  return { id, type: toServiceType(type), serviceEndpoint: toServiceEndpoint(serviceEndpoint) }
}

/** The text of a service's type; a list stays a list, even of one. */
export function toServiceType(type: Service['type']): string {
  return typeof type === 'string' ? type : JSON.stringify(type)
}

/** The text of a service's endpoint, its URIs normalised. */
export function toServiceEndpoint(serviceEndpoint: Endpoint): string {
  const normalised = normaliseUris(serviceEndpoint)
  return typeof normalised === 'string' ? normalised : JSON.stringify(normalised)
}

/** The service as the document of `did` shows it. */
export function fromPrismService(did: string, { id, type, serviceEndpoint }: PrismService): Service {
  return {
    id: `${did}#${id}`,
    type: type.startsWith('[') ? (JSON.parse(type) as string[]) : type,
    serviceEndpoint: normaliseUris(
      /^[[{]/.test(serviceEndpoint) ? (JSON.parse(serviceEndpoint) as Endpoint) : serviceEndpoint,
    ),
  }
}

function normaliseUris(endpoint: Endpoint): Endpoint {
  if (typeof endpoint === 'string') return normaliseUri(endpoint)
  return Array.isArray(endpoint)
    ? endpoint.map((entry) => (typeof entry === 'string' ? normaliseUri(entry) : entry))
    : endpoint
}

/**
 * Web addresses get the form the URL standard gives them (`https://foo.bar.com` gains a `/`); other URIs stay as they are, and so does
 * what has white space in it, which that standard drops and which is no URI.
 */
function normaliseUri(uri: string): string {
  return /^(?:https?|wss?):\S*$/i.test(uri) && URL.canParse(uri) ? new URL(uri).href : uri
}
