/** What a DID is made of, from flags: keys as `id:purpose[:curve]`, services as `id,type,endpoint` or JSON. */
import { UsageError } from '../errors/usage.ts'
import { parse, readText, type Json } from './json.ts'

/** What a key in the document may be for, and its curves. A test compares them with the API's. */
export const purposes = [
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
] as const
export const curves = ['secp256k1', 'Ed25519', 'X25519'] as const

export type Key = { id: string; purpose: (typeof purposes)[number]; curve?: (typeof curves)[number] }
export type Service = { id: string; type: string; serviceEndpoint: string }

/** A key, of `id:purpose` or `id:purpose:curve`; its id may have colons of its own. @throws {UsageError} */
export function readKey(flag: string, text: string): Key {
  const parts = text.split(':')
  const curve = curves.find((name) => name === parts.at(-1))
  if (curve) parts.pop()
  const purpose = purposes.find((name) => name === parts.at(-1))
  const id = parts.slice(0, -1).join(':')
  if (purpose && id !== '') return { id, purpose, ...(curve && { curve }) }
  const hasPurpose = !curve && purposes.some((name) => name === parts.at(-2))
  throw new UsageError(
    hasPurpose
      ? `--${flag} ${JSON.stringify(text)}: the curve is none of ${curves.join(', ')}.`
      : `--${flag} ${JSON.stringify(text)} is not in the form id:purpose or id:purpose:curve, with a purpose of ${purposes.join(', ')}.`,
  )
}

/** A service, of `id,type,endpoint`, or of a JSON object that the agent judges; both may be in a file (`@path`). @throws {UsageError} */
export function readService(flag: string, value: string): Service {
  const service = readServicePatch(flag, value)
  const { type, serviceEndpoint } = service
  if (type !== undefined && serviceEndpoint !== undefined) return { ...service, type, serviceEndpoint }
  throw new UsageError(
    `--${flag} ${JSON.stringify(value)} has no ${type === undefined ? 'type' : 'endpoint'}: give id,type,endpoint.`,
  )
}

/** As `readService`; what is left empty, as in `id,,endpoint`, is absent and stays as it is. @throws {UsageError} */
export function readServicePatch(flag: string, value: string): Pick<Service, 'id'> & Partial<Service> {
  const text = readText(flag, value).trim()
  if (text.startsWith('{')) return parse(flag, text) as Service
  const [, id, type, serviceEndpoint] = /^([^,]+),([^,]*),(.*)$/s.exec(text) ?? []
  if (id === undefined || (!type && !serviceEndpoint))
    throw new UsageError(
      `--${flag} ${JSON.stringify(value)} is not in the form id,type,endpoint, nor a JSON object.`,
    )
  return { id, ...(type && { type }), ...(serviceEndpoint && { serviceEndpoint }) }
}

/** JSON that the API takes under a name; the API's whole body, which names it, is as good. */
export function unwrap(given: Json, name: string): Json {
  const isBody =
    typeof given === 'object' && given !== null && !Array.isArray(given) && Object.hasOwn(given, name)
  return isBody ? given[name]! : given
}
