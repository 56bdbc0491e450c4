/**
 * The audit log's view of requests: every refusal, and every change of wallets, tenants, keys and DIDs.
 *
 * An entry contains ids only: from the path, from some members of the body, and of the created resource.
 */
import type { Agent } from '../../src/agent/agent.ts'
import type { Act } from '../../src/wallet/audit/entry.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { factsOf, managedMethods } from '../../src/definitions/did-names.ts'
import type { RequestContext } from '../middleware/request-context.ts'
import { splitKey, type Key, type Route } from './route.ts'

export type AuditedInput = {
  path?: Record<string, unknown> | undefined
  body?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
}

/** Ids by their names. */
type Subject = Record<string, string>

/** Whether the audit log has an endpoint's requests: changes by the administrator, and all operations of DIDs. */
export function isAudited({ key, contract: { access } }: Route): boolean {
  const [method, path] = splitKey(key)
  if (method === 'GET' || access === 'public') return false
  return access !== 'tenant' || path.startsWith('/did-registrar/')
}

/** Logs a refusal (401, 403, 429); other errors are ignored. */
export async function auditRefusal(
  { audit }: Agent,
  key: string,
  context: RequestContext,
  error: unknown,
): Promise<void> {
  if (error instanceof Problem && [401, 403, 429].includes(error.status))
    await audit.refused(toAct(key, context), error)
}

/**
 * Does the work of an audited endpoint. `work` calls `begin` with the parsed input before it changes
 * anything.
 *
 * @throws the errors of `work`, and {Problem} 503 or 507 when the log cannot be written
 */
export function auditWork<T>(
  { audit }: Agent,
  { key, contract }: Route,
  context: RequestContext,
  work: (begin: (input: AuditedInput) => Promise<void>) => Promise<T>,
): Promise<T> {
  let input: AuditedInput = {}
  const about = (subject: Subject) => ({
    subject,
    ...(context.caller?.kind !== 'tenant' && walletOf(key, subject)),
  })
  return audit.during(
    toAct(key, context),
    (begin) =>
      work((parsed) => {
        input = parsed
        return begin(about(subjectOf(input)))
      }),
    (result) => ({
      ...about(resultSubjectOf(input, result)),
      status: (contract.media && (result as { status?: number }).status) ?? contract.reply[0],
    }),
  )
}

function toAct(action: string, { caller, address, requestId }: RequestContext): Act {
  const request = { address, requestId, action }
  if (!caller) return { actor: 'anonymous', ...request }
  const { kind, login } = caller
  const by = { ...request, ...(login && { issuer: login.issuer, login: login.subject }) }
  if (kind !== 'tenant') return { actor: kind === 'admin' ? 'admin' : 'tenant', ...by }
  const { entityId, keyId, walletId } = caller
  return {
    actor: 'tenant',
    walletId,
    ...(entityId !== undefined && { entityId }),
    ...(keyId !== undefined && { keyId }),
    ...by,
  }
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const otherDid = new RegExp(`^did:(?:${managedMethods.join('|')}):[\\w.%:-]{1,250}$`)

/** The subject of an OpenID provider whose permission changes. */
const loginName = /^[\x21-\x7e]{1,255}$/

/** The ids in a path and a body. */
export function subjectOf({ path, body, query }: AuditedInput): Subject {
  const ids: Subject = {}
  for (const [name, value] of Object.entries(path ?? {})) addId(ids, name, value)
  for (const name of ['entityId', 'walletId']) addId(ids, name, body?.[name])
  addId(ids, 'login', body?.['subject'] ?? query?.['subject'], loginName)
  addId(ids, 'replaces', (body?.['replaces'] as Subject | undefined)?.['id'])
  return ids
}

/**
 * Adds the id of the created resource as `made`, and DIDs that have one form. Only now are they known to be
 * DIDs, not arbitrary text.
 */
export function resultSubjectOf({ path, body, query }: AuditedInput, result: unknown): Subject {
  const ids = subjectOf({ path, body, query })
  const { id, longFormDid } = bodyOf(result) as Subject
  addId(ids, 'didRef', path?.['didRef'], otherDid)
  addId(ids, 'made', longFormDid ?? (Object.values(ids).includes(id!) ? undefined : id), otherDid)
  return ids
}

/** The JSON body of a handler's result, which may be an `Answer`. */
function bodyOf(result: unknown): object {
  const { type, body } = (result ?? {}) as { type?: unknown; body?: unknown }
  return type === 'application/json' && typeof body === 'object' && body !== null ? body : (result ?? {})
}

/** Endpoints whose created resource is a wallet. */
const walletCreators = ['/wallets', '/wallets/import']

/** The wallet that an administrator's request is about. */
export function walletOf(key: Key, { walletId, made }: Subject): { walletId?: string } {
  const id = walletId ?? (walletCreators.includes(splitKey(key)[1]) ? made : undefined)
  return id === undefined ? {} : { walletId: id }
}

/**
 * Adds a value if it is a UUID, a DID with a short form, or of another accepted form. Other text may be a
 * secret.
 */
function addId(ids: Subject, name: string, value: unknown, accepted?: RegExp): void {
  if (typeof value !== 'string') return
  const id =
    factsOf(value)?.forms?.exec(value)?.[1] ?? (uuid.test(value) || accepted?.test(value) ? value : undefined)
  if (id !== undefined) ids[name] = id
}
