/**
 * Rules for a single key, service or list of contexts of a did:prism: those of the PRISM DID Method, and the
 * limits of the Cloud Agent.
 */
import * as z from 'zod'
import { reasonOf } from '../../foundation/reason.ts'
import { tryParseJson } from '../../foundation/json.ts'
import { InvalidOperation, type PrismKey, type PrismService } from './model.ts'

/** Limits on the number of keys and services, and on the length of texts in bytes of UTF-8. */
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
  'is not a URI fragment',
)

const ServiceTypeName = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(?: +[A-Za-z0-9_-]+)*$/, 'is not a name of letters, digits, - and _')
const Uri = z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/, 'is not a URI')
const UriOrObject = z.union([Uri, z.looseObject({})])

const ServiceType = text(limits.serviceType).superRefine(
  checkText((value) => (value.startsWith('[') ? z.array(ServiceTypeName).min(1) : ServiceTypeName)),
)
const ServiceEndpoint = text(limits.serviceEndpoint).superRefine(
  checkText((value) =>
    value.startsWith('[') ? z.array(UriOrObject).min(1) : value.startsWith('{') ? z.looseObject({}) : Uri,
  ),
)

const PrismServiceRules = z.object({ id: Id, type: ServiceType, serviceEndpoint: ServiceEndpoint })
const Contexts = z
  .array(text(limits.context))
  .refine((list) => new Set(list).size === list.length, 'names a context twice')

/** @throws {InvalidOperation} for an id that is not a URI fragment, or a curve that does not fit the usage */
export function checkKey({ id, usage, publicKey }: PrismKey): void {
  requireValid(Id, id, `key id ${quote(id)}`)
  if ((usage === 'master' || usage === 'vdr') && publicKey.crv !== 'secp256k1') {
    throw new InvalidOperation(`key ${quote(id)} is a ${usage} key and must be on secp256k1`)
  }
}

/** @throws {InvalidOperation} when the id, type or endpoint is malformed or too long. */
export function checkService(service: PrismService): void {
  requireValid(PrismServiceRules, service, `service ${quote(service.id)}`)
}

export function checkServiceType(type: string): void {
  requireValid(ServiceType, type, 'service type')
}

export function checkServiceEndpoint(serviceEndpoint: string): void {
  requireValid(ServiceEndpoint, serviceEndpoint, 'service endpoint')
}

/** The method allows any text; the Cloud Agent requires URIs in new operations. @throws {InvalidOperation} */
export function checkContextUris(contexts: readonly string[]): void {
  requireValid(z.array(Uri), contexts, 'context')
}

/** @throws {InvalidOperation} when a context is empty, too long or duplicate. */
export function checkContexts(contexts: string[]): void {
  requireValid(Contexts, contexts, 'context')
}

function requireValid(rule: z.ZodType, value: unknown, name: string): void {
  const { error } = rule.safeParse(value)
  if (error) throw new InvalidOperation(`${name}: ${reasonOf(error)}`)
}

function text(maximum: number) {
  return z.string().refine((value) => value.length > 0 && Buffer.byteLength(value) <= maximum, {
    error: `must have 1 to ${maximum} bytes`,
    abort: true,
  })
}

/** Checks a plain string, or the value of a JSON text. */
function checkText(ruleFor: (value: string) => z.ZodType) {
  return (value: string, context: z.RefinementCtx<string>) => {
    const { error } = ruleFor(value).safeParse(/^[[{]/.test(value) ? tryParseJson(value) : value)
    if (error) context.addIssue({ code: 'custom', message: reasonOf(error) })
  }
}

/** An id in an error text: quoted and shortened, because it may come from a peer. */
export function quote(id: string): string {
  return JSON.stringify(id.slice(0, limits.id))
}
