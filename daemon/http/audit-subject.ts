/** What a request is about, for the audit log: ids, and nothing else of what came or was made. */
import { splitKey, type Key } from './route.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const prism = /^did:prism:[0-9a-f]{64}(?=:|$)/
const web = /^did:web:[\w.%:-]{1,200}$/

/** Members of a body that name what is concerned. */
const named = ['entityId', 'walletId'] as const

type Subject = Record<string, string>

/** What was given: the names in the path, and the body. */
export type Given = { path?: Record<string, unknown> | undefined; body?: Record<string, unknown> | undefined }

/** The ids of a path and of a body, by their names. */
export function subjectOf({ path, body }: Given): Subject {
  const ids: Subject = {}
  for (const [name, value] of Object.entries(path ?? {})) put(ids, name, value)
  for (const name of named) put(ids, name, body?.[name])
  put(ids, 'replaces', (body?.['replaces'] as Subject | undefined)?.['id'])
  return ids
}

/** As `subjectOf`, of what was done: with the id of what was made, as `made`, and with DIDs whose text somebody chose, which now are DIDs. */
export function doneTo({ path, body }: Given, result: unknown): Subject {
  const ids = subjectOf({ path, body })
  const { id, longFormDid } = bodyOf(result) as Subject
  put(ids, 'didRef', path?.['didRef'], web)
  put(ids, 'made', longFormDid ?? (Object.values(ids).includes(id!) ? undefined : id), web)
  return ids
}

/** What makes a wallet known here. */
const makers = ['/wallets', '/wallets/import']

/** What goes out as JSON: of a handler that chooses the status, what is in its answer. */
function bodyOf(result: unknown): object {
  const { type, body } = (result ?? {}) as { type?: unknown; body?: unknown }
  return type === 'application/json' && typeof body === 'object' && body !== null ? body : (result ?? {})
}

/** The wallet that something is about which was done to `subject`. */
export function walletOf(key: Key, { walletId, made }: Subject): { walletId?: string } {
  const id = walletId ?? (makers.includes(splitKey(key)[1]) ? made : undefined)
  return id === undefined ? {} : { walletId: id }
}

/** Adds an id that is one: a text that somebody chose is none. */
function put(ids: Subject, name: string, value: unknown, also?: RegExp): void {
  if (typeof value !== 'string') return
  const id = prism.exec(value)?.[0] ?? (uuid.test(value) || also?.test(value) ? value : undefined)
  if (id !== undefined) ids[name] = id
}
