/**
 * What a single key, service or list of contexts of a did:prism may be, whatever the DID's history (wire.md 11.3:
 * limits of the real agent, purposes and curves of the method).
 */
import { z } from 'zod'
import { reasonOf } from '../../base/reason.ts'
import { tryParseJson } from '../../base/json.ts'
import { InvalidOperation, type PrismKey, type PrismService } from './model.ts'

/** Limits on what a DID has at a time, and on the length of texts, in bytes of UTF-8. */
export const limits = {
  keys: 50,
  services: 50,
  id: 50,
  serviceType: 100,
  serviceEndpoint: 300,
  context: 100,
} as const

/** Characters of a URI fragment (RFC 3986 §3.5). */
const Id = text(limits.id).regex(
  /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})+$/,
  'is no URI fragment',
)

const ServiceTypeName = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(?: +[A-Za-z0-9_-]+)*$/, 'is no name of letters, digits, - and _')
const Uri = z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/, 'is no URI')
const UriOrObject = z.union([Uri, z.looseObject({})])

const ServiceType = text(limits.serviceType).superRefine(
  check((value) => (value.startsWith('[') ? z.array(ServiceTypeName).min(1) : ServiceTypeName)),
)
const ServiceEndpoint = text(limits.serviceEndpoint).superRefine(
  check((value) =>
    value.startsWith('[') ? z.array(UriOrObject).min(1) : value.startsWith('{') ? z.looseObject({}) : Uri,
  ),
)

const PrismServiceRules = z.object({ id: Id, type: ServiceType, serviceEndpoint: ServiceEndpoint })
const Contexts = z
  .array(text(limits.context))
  .refine((list) => new Set(list).size === list.length, 'names a context twice')

/** @throws {InvalidOperation} when the key's id is no fragment, or its curve does not suit its usage. */
export function checkKey({ id, usage, publicKey }: PrismKey): void {
  obey(Id, id, `key id ${quote(id)}`)
  if ((usage === 'master' || usage === 'vdr') && publicKey.crv !== 'secp256k1') {
    throw new InvalidOperation(`key ${quote(id)} is a ${usage} key and must be on secp256k1`)
  }
}

/** @throws {InvalidOperation} when the id, type or endpoint is malformed or too long. */
export function checkService(service: PrismService): void {
  obey(PrismServiceRules, service, `service ${quote(service.id)}`)
}

/** @throws {InvalidOperation} when the service cannot have this type. */
export function checkServiceType(type: string): void {
  obey(ServiceType, type, 'service type')
}

/** @throws {InvalidOperation} when the service cannot have this endpoint. */
export function checkServiceEndpoint(serviceEndpoint: string): void {
  obey(ServiceEndpoint, serviceEndpoint, 'service endpoint')
}

/** @throws {InvalidOperation} when a context is no URI: the method leaves that open, the real agent does not when it makes an operation. */
export function checkContextUris(contexts: readonly string[]): void {
  obey(z.array(Uri), contexts, 'context')
}

/** @throws {InvalidOperation} when a context is empty, too long or there twice. */
export function checkContexts(contexts: string[]): void {
  obey(Contexts, contexts, 'context')
}

function obey(rule: z.ZodType, value: unknown, name: string): void {
  const { error } = rule.safeParse(value)
  if (error) throw new InvalidOperation(`${name}: ${reasonOf(error)}`)
}

function text(maximum: number) {
  return z.string().refine((value) => value.length > 0 && Buffer.byteLength(value) <= maximum, {
    error: `must have 1 to ${maximum} bytes`,
    abort: true,
  })
}

/** Checks the value itself where it is plain, or what it says where it is JSON. */
function check(ruleFor: (value: string) => z.ZodType) {
  return (value: string, context: z.RefinementCtx<string>) => {
    const { error } = ruleFor(value).safeParse(/^[[{]/.test(value) ? tryParseJson(value) : value)
    if (error) context.addIssue({ code: 'custom', message: reasonOf(error) })
  }
}

/** An id in a message: whatever stands in it, it stays an id, and short. */
export function quote(id: string): string {
  return JSON.stringify(id.slice(0, limits.id))
}
