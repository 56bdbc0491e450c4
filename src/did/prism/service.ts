/**
 * Converts services between DID documents (one or several types; an endpoint that is a URI, an object or a
 * list) and did:prism operations (two texts, plain or JSON; PRISM DID Method, "Services").
 */
import type { Service } from '../document.ts'
import type { PrismService } from './model.ts'

type Endpoint = Service['serviceEndpoint']

/** The service of an operation. URLs are normalised, as in the Cloud Agent. */
export function toPrismService({
  id,
  type,
  serviceEndpoint,
}: Pick<Service, 'id' | 'type' | 'serviceEndpoint'>): PrismService {
  return { id, type: toServiceType(type), serviceEndpoint: toServiceEndpoint(serviceEndpoint) }
}

/** The text of a service type: a name, or a JSON list. */
export function toServiceType(type: Service['type']): string {
  return typeof type === 'string' ? type : JSON.stringify(type)
}

/** The text of a service endpoint: a URI, or JSON. */
export function toServiceEndpoint(serviceEndpoint: Endpoint): string {
  const normalised = normaliseUris(serviceEndpoint)
  return typeof normalised === 'string' ? normalised : JSON.stringify(normalised)
}

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
 * Normalises http(s) and ws(s) URLs (WHATWG URL Standard), so that `https://foo.bar.com` gets a `/`. Other
 * URIs, and texts with white space, stay unchanged.
 */
function normaliseUri(uri: string): string {
  return /^(?:https?|wss?):\S*$/i.test(uri) && URL.canParse(uri) ? new URL(uri).href : uri
}
