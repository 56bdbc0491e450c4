/**
 * An endpoint as a value: its key, its contract and its handler.
 *
 * The contract is the only description of an endpoint. `mount.ts` validates requests with it, the compiler
 * types the handler and the client with it, and `openapi.ts` prints it.
 */
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import type { Config } from '../../src/foundation/config/config.ts'
import type { Log } from '../../src/foundation/log.ts'
import { allScopes, type Scope } from '../../src/wallet/model.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import type { Access, Admin, Subject, Tenant } from '../middleware/access.ts'
import type { AddressLimit } from '../middleware/rate-limits.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Key = `${Method} /${string}`

/** The `{names}` in a path. */
export type PathNames<K extends string> = K extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

/** The first argument of a handler, by access. A tenant's wallet is open while the handler runs. */
export type Context = {
  admin: Pick<Agent, 'wallets' | 'tenants'> & { agent: Agent }
  tenant: { wallet: Wallet; agent: Agent }
  'admin-or-tenant': Pick<Agent, 'wallets' | 'tenants'> & { caller: Admin | Tenant | Subject; agent: Agent }
  metrics: { agent: Agent }
  /** `routes`: all mounted routes, for the OpenAPI document. */
  public: { agent: Agent; routes: readonly Route[] }
}
export type { Access }

export type Status = 200 | 201 | 202 | 204

export type Contract = {
  /** A short phrase in the imperative, for the OpenAPI document. */
  readonly summary: string
  /** The Cloud Agent's `operationId` if it has the operation, because generated clients use it as a name. */
  readonly operationId: string
  /** None of the APIs that the agent implements (Cloud Agent, enterprise suite, NeoPRISM) has the endpoint. */
  readonly extension?: true
  readonly access: Access
  /**
   * The scopes that may call the endpoint. `[]`: only keys without scopes, which are unrestricted. Endpoints
   * that read accept all scopes by default.
   */
  readonly scopes?: readonly Scope[]
  /** A zod type for each name in the path. Other values give 404. */
  readonly path?: Readonly<Record<string, z.ZodType>>
  readonly query?: z.ZodObject
  /** The headers that the handler reads, by lower-case name. */
  readonly headers?: z.ZodObject
  /** The JSON body. An empty body and `null` are parsed as `{}`. */
  readonly body?: z.ZodType
  /**
   * The handler gets any body, of any media type: parsed JSON, the text of a JWT (`application/jwt`), or
   * `undefined` for other bodies. `body` is then for the OpenAPI document and for the handler, because even
   * an invalid body has an effect.
   */
  readonly anyBody?: true
  /**
   * The body is a form (`application/x-www-form-urlencoded`), which the handler parses. `body` is for the
   * OpenAPI document.
   */
  readonly form?: true
  /** The body is a file of this media type and of at most `limit` bytes, which the handler reads as a stream. */
  readonly stream?: { readonly media: string; readonly limit: (config: Config) => number }
  /**
   * The variable that limits the requests per minute of one address, for a public endpoint that calls other
   * hosts or opens wallets.
   */
  readonly perAddress?: AddressLimit
  /** The maximum size of the body in bytes, if it is higher than the default. */
  readonly bodyLimit?: (config: Config) => number
  /**
   * The body is stored in the file that all wallets share: its size is checked against `BYTES_PER_WALLET`
   * first.
   */
  readonly sharesFile?: true
  /** The status of success, and the body on the wire. `null`: no body. */
  readonly reply: readonly [status: Status, body: z.ZodType | null]
  /**
   * The media types of the responses, unless JSON is the only one. The handler reads `Accept` and returns an
   * `Answer`. `reply` then describes the bodies of the media types that `bodies` does not name.
   */
  readonly media?: readonly [string, ...string[]]
  /** The bodies of success by media type, if they differ from `reply`. */
  readonly bodies?: Readonly<Record<string, z.ZodType>>
  /** The endpoint may redirect (303) instead. */
  readonly redirects?: true
  /** The statuses of failures whose body is not an `ErrorResponse`, and their bodies by media type. */
  readonly failures?: {
    readonly statuses: readonly number[]
    readonly bodies: Readonly<Record<string, z.ZodType>>
  }
}

/**
 * The result of a handler whose contract has `media`. Text, bytes and streams are sent as they are, other
 * objects as JSON. `headers` replace the default headers, including `Content-Type`, which may need a charset.
 */
export type Answer<Media extends string = string> = {
  status?: number
  type: Media
  body: string | Uint8Array | Readable | object
  headers?: Record<string, string>
}

type Parsed<Type, Absent> = Type extends z.ZodType ? z.output<Type> : Absent

export type Input<C extends Contract> = {
  path: { [N in keyof C['path']]: Parsed<C['path'][N], never> }
  query: Parsed<C['query'], {}>
  headers: Parsed<C['headers'], {}>
  body: C['form'] extends true
    ? URLSearchParams
    : C['anyBody'] extends true
      ? unknown
      : Parsed<C['body'], undefined>
  /** The body, if the contract has `stream`. The handler must read it before it returns. */
  stream: C['stream'] extends object ? AsyncIterable<Uint8Array> : undefined
  /** The request target as received: path and query. */
  target: string
  /** The address of the client (IPv6: the /64 network). */
  address: string
  /** A log whose lines have the request id. */
  log: Log
  /** The `Accept` header; `*` + `/*` by default. */
  accept: string
  /**
   * The media type that `Accept` prefers, the first if it has no preference, undefined if it accepts none
   * (RFC 9110 §12.5.1).
   */
  accepts: (types: readonly string[]) => string | undefined
  /**
   * The language that `Accept-Language` prefers, the first if it has no preference, undefined if it accepts
   * none (RFC 9110 §12.5.4).
   */
  acceptsLanguage: (languages: readonly string[]) => string | undefined
  /** Whether `Accept-Encoding` allows a content encoding (RFC 9110 §12.5.3). */
  acceptsEncoding: (encoding: string) => boolean
  /**
   * For responses that take long: releases the slot of the request, and returns a signal that aborts when the
   * client disconnects.
   */
  whenGone: () => AbortSignal
  /** For responses that take long: whether the credentials still belong to the same caller. */
  isStillAllowed: () => Promise<boolean>
}

/** The body of success before serialization; `void` if the contract has `null`. */
export type Reply<C extends Contract> = C['reply'][1] extends z.ZodType ? z.input<C['reply'][1]> : void

type Output<C extends Contract> = C['media'] extends readonly (infer Media extends string)[]
  ? Answer<Media>
  : Reply<C>

/** A contract must describe exactly the names in its path. */
type Describes<K extends string> = [PathNames<K>] extends [never]
  ? { path?: never }
  : { path: Record<PathNames<K>, z.ZodType> }
type NoOthers<K extends string, C extends Contract> = [Exclude<keyof C['path'], PathNames<K>>] extends [never]
  ? unknown
  : never

/** The contract of a tenant's endpoint must have scopes, unless it reads. Other contracts must not have them. */
type Scoped<K extends string, C extends Contract> = C['access'] extends 'admin' | 'metrics' | 'public'
  ? { scopes?: never }
  : K extends `GET ${string}`
    ? unknown
    : { scopes: readonly Scope[] }

export type Route<K extends Key = Key, C extends Contract = Contract> = {
  readonly key: K
  readonly contract: C
  // `mount` handles routes of all contracts, so that it cannot know the types of context and input.
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

/** The scopes that may call an endpoint, or undefined if no tenant may call it. */
export function scopesOf({ access, scopes = allScopes }: Contract): readonly Scope[] | undefined {
  return access === 'tenant' || access === 'admin-or-tenant' ? scopes : undefined
}

export function splitKey(key: Key): [method: Method, path: string] {
  const space = key.indexOf(' ')
  return [key.slice(0, space) as Method, key.slice(space + 1)]
}
