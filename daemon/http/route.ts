/**
 * One endpoint: its line in the service document, its contract, its handler, in that order and in one place.
 *
 * The contract is the only description of an endpoint there is. `mount.ts` validates with it, the compiler types the
 * handler and the command line's client with it, `openapi.ts` prints it.
 */
import type { Readable } from 'node:stream'
import type { z } from 'zod'
import type { Agent } from '../../src/agent.ts'
import type { Config } from '../../src/base/config.ts'
import type { Log } from '../../src/base/log.ts'
import { allScopes, type Scope } from '../../src/wallet/model.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import type { Access, Admin, Tenant } from '../middleware/access.ts'
import type { AddressLimit } from '../middleware/rate-limits.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Key = `${Method} /${string}`

/** The `{names}` in a path. */
export type PathNames<K extends string> = K extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

/** What a handler is given, by who may call it. A tenant's handler holds its wallet, open for as long as it runs. */
export type Context = {
  admin: Pick<Agent, 'wallets' | 'tenants'> & { agent: Agent }
  tenant: { wallet: Wallet; agent: Agent }
  'admin-or-tenant': Pick<Agent, 'wallets' | 'tenants'> & { caller: Admin | Tenant; agent: Agent }
  /** `routes` are all that are mounted, for the document that describes them. */
  public: { agent: Agent; routes: readonly Route[] }
}
export type { Access }

export type Status = 200 | 201 | 202 | 204

export type Contract = {
  /** A few words in the imperative, for the API document. */
  readonly summary: string
  /** The name of the operation in clients that are generated from the API document; the Cloud Agent's where it has the operation. */
  readonly operationId: string
  /** The endpoint is in none of the APIs that the agent implements: the Cloud Agent's, the enterprise suite's, NeoPRISM's. */
  readonly extension?: true
  readonly access: Access
  /**
   * The scopes of which a tenant's key must have one, where it has any; `[]` when it must have none and be for everything. What reads
   * may leave them out, and takes them all.
   */
  readonly scopes?: readonly Scope[]
  /** A zod type for each name in the path; what does not fit is no such path (404). */
  readonly path?: Readonly<Record<string, z.ZodType>>
  readonly query?: z.ZodObject
  /** Headers that the handler reads, by their names in lower case. */
  readonly headers?: z.ZodObject
  /** The JSON body. An empty body and `null` are parsed as `{}`. */
  readonly body?: z.ZodType
  /**
   * Whatever comes is handed over, of any media type, parsed where it is JSON and `undefined` where it is not: `body` is for the API document, and
   * for the handler to parse with, because a body that does not fit is not without effect.
   */
  readonly anyBody?: true
  /** The body is a file of this media type, which the handler reads as it comes; at most so many bytes. */
  readonly stream?: { readonly media: string; readonly limit: (config: Config) => number }
  /** The variable that says how many requests one address may send in a minute, where an endpoint needs no credentials and calls others. */
  readonly perAddress?: AddressLimit
  /** The longest body in bytes, where it may be longer than others. */
  readonly bodyLimit?: (config: Config) => number
  /** What it keeps goes to the file that all wallets share, so that the wallet must have room for the body (`BYTES_PER_WALLET`) beforehand. */
  readonly sharesFile?: true
  /** The status of success, and the body as it goes over the wire. `null`: there is none. */
  readonly reply: readonly [status: Status, body: z.ZodType | null]
  /**
   * The media types of an endpoint that answers with more than one, or with something else than JSON. Its handler
   * reads the request's `Accept` and returns an `Answer`; `reply` then describes those that `bodies` does not.
   */
  readonly media?: readonly [string, ...string[]]
  /** The bodies of success by media type, where one differs from `reply`. */
  readonly bodies?: Readonly<Record<string, z.ZodType>>
  /** The statuses of failures that have other bodies than an `ErrorResponse`, and those bodies by media type. */
  readonly failures?: {
    readonly statuses: readonly number[]
    readonly bodies: Readonly<Record<string, z.ZodType>>
  }
}

/**
 * What a handler of a contract with `media` returns. A text goes out as it is, a stream as it comes, any other object as JSON; `headers` stand
 * over those that there would be, also over the type, which may need a charset.
 */
export type Answer<Media extends string = string> = {
  status?: number
  type: Media
  body: string | Readable | object
  headers?: Record<string, string>
}

type Parsed<Type, Absent> = Type extends z.ZodType ? z.output<Type> : Absent

export type Input<C extends Contract> = {
  path: { [N in keyof C['path']]: Parsed<C['path'][N], never> }
  query: Parsed<C['query'], {}>
  headers: Parsed<C['headers'], {}>
  body: C['anyBody'] extends true ? unknown : Parsed<C['body'], undefined>
  /** The body as it comes, where the contract has it as a file; to be read before the handler returns. */
  stream: C['stream'] extends object ? AsyncIterable<Uint8Array> : undefined
  /** The request target as it was received: path and query. */
  target: string
  /** Where the request comes from: the address of whoever is connected. */
  address: string
  /** The log, whose lines name the request. */
  log: Log
  /** The `Accept` header, `*` + `/*` when there is none. */
  accept: string
  /** The one of some media types that the `Accept` header likes best, the first where it does not care; nothing when it takes none (RFC 9110 §12.5.1). */
  accepts: (types: readonly string[]) => string | undefined
  /** A signal that tells when the caller is gone, for answers that take long: others begin meanwhile. */
  whenGone: () => AbortSignal
  /** Whether the credentials of the request are still those of the same caller, for answers that take long. */
  isStillAllowed: () => Promise<boolean>
}

/** The body of success as JSON writes it; nothing where the contract says `null`. */
export type Reply<C extends Contract> = C['reply'][1] extends z.ZodType ? z.input<C['reply'][1]> : void

type Output<C extends Contract> = C['media'] extends readonly (infer Media extends string)[]
  ? Answer<Media>
  : Reply<C>

/** A contract must describe the names in its path, all of them and no others. */
type Describes<K extends string> = [PathNames<K>] extends [never]
  ? { path?: never }
  : { path: Record<PathNames<K>, z.ZodType> }
type NoOthers<K extends string, C extends Contract> = [Exclude<keyof C['path'], PathNames<K>>] extends [never]
  ? unknown
  : never

/** What a tenant may call must say with which keys, unless it reads; what nobody's key is asked for must not. */
type Scoped<K extends string, C extends Contract> = C['access'] extends 'admin' | 'public'
  ? { scopes?: never }
  : K extends `GET ${string}`
    ? unknown
    : { scopes: readonly Scope[] }

export type Route<K extends Key = Key, C extends Contract = Contract> = {
  readonly key: K
  readonly contract: C
  // The types of context and input follow from the contract, which `mount` cannot know one by one.
  readonly handler: (context: any, input: any) => Promise<unknown>
}

/** Describes an endpoint: `route('GET /wallets/{walletId}', contract, handler)`. */
export function route<const K extends Key, const C extends Contract>(
  key: K,
  contract: C & Describes<K> & NoOthers<K, C> & Scoped<K, C>,
  handler: (context: Context[C['access']], input: Input<C>) => Promise<Output<C>>,
): Route<K, C> {
  return { key, contract, handler }
}

/** The scopes that may call an endpoint; nothing where the caller is no tenant. */
export function scopesOf({ access, scopes = allScopes }: Contract): readonly Scope[] | undefined {
  return access === 'admin' || access === 'public' ? undefined : scopes
}

/** The method and the path of a key. */
export function splitKey(key: Key): [method: Method, path: string] {
  const space = key.indexOf(' ')
  return [key.slice(0, space) as Method, key.slice(space + 1)]
}
