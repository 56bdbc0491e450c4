/** API requests: valid ones, changed ones, and malformed HTTP. */
import { randomUUID } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'
import type { Draw } from './_draw.ts'
import { anyBytes, spoil } from './_envelope.ts'
import { good, type Around, type Case } from './_good.ts'
import { writeJson } from './_json.ts'
import { bend, nasty, nastyText } from './_nasty.ts'
import { adminKey, type Operation, type Place, type Tenant } from './_place.ts'
import { valueOf } from './_schema.ts'
import { words } from '../support/words.ts'

/** The kinds of changes. `good` changes nothing. */
export const ways = { good: 40, bent: 33, 'any body': 7, bytes: 8, headers: 7, 'no HTTP': 5 } as const
export type Way = keyof typeof ways

/** A request to send. `isCut`: the client disconnects before the end of the body. */
export type Request = {
  method: string
  target: string
  headers: Record<string, string>
  body?: Uint8Array
  isCut?: boolean
}

/** Names under which values for these members are stored. */
const aliases: Readonly<Record<string, string>> = {
  issuingDID: 'issuing DID',
  author: 'issuing DID',
  trustIssuers: 'issuing DID',
  trustedIssuers: 'issuing DID',
  subjectId: 'subject DID',
  schemaId: 'schema URL',
  connectionId: 'live connection',
  proofId: 'recordId CredentialReceived',
  invitation: '_oob',
  policyId: 'id of /verification/policies',
  entityId: 'id of /iam/entities',
}

/** Creates a request for an operation. */
export function makeRequest(
  draw: Draw,
  way: Way,
  place: Place,
  tenant: Tenant,
  operation: Operation,
  around: Around,
): Request {
  const { method, parameters, path } = operation
  const find = (name: string) => place.found.take(draw, tenant.name, aliases[name] ?? name)
  const fromSchema = (): Case => {
    const source = { draw, schemas: place.schemas, find }
    const of = (where: 'path' | 'query' | 'header') =>
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === where && (where === 'path' || draw.share(0.3)))
          .map(({ name, schema }) => [
            name,
            where === 'path' ? idOf(place, draw, tenant, path, name) : String(valueOf(source, schema, name)),
          ]),
      )
    return {
      path: of('path'),
      query: of('query'),
      headers: of('header'),
      ...(operation.body && { body: valueOf(source, operation.body) }),
    }
  }
  const row = good[operation.key as keyof typeof good]
  const made = row && draw.share(0.75) ? { ...row(around) } : fromSchema()
  // Wallets in use must not be transferred.
  if (path === '/wallets/{walletId}/export') made.path = { walletId: place.exportedWallet.walletId }
  const isBent = way === 'bent'
  if (isBent && 'body' in made && draw.share(0.85)) made.body = bend(draw, made.body, 1 + draw.below(3))
  else if (isBent)
    bendParameters(
      draw,
      made,
      parameters.map(({ name, in: where }) => [name, where] as const),
    )
  if (way === 'any body') made.body = nasty(draw)
  const json =
    'body' in made && (operation.body || way === 'any body') ? Buffer.from(writeJson(made.body)) : undefined
  const file =
    json || operation.file === undefined
      ? undefined
      : draw.share(0.7)
        ? place.exportedWallet.exported
        : spoil(draw, place.exportedWallet.exported)
  const body = json ?? file
  const request = {
    method,
    target: targetOf(draw, path, made),
    headers: {
      ...made.headers,
      ...credentials(draw, operation, tenant, place),
      ...(body && { 'content-type': file ? operation.file! : 'application/json' }),
    },
    ...(body && { body }),
  }
  if (way === 'bytes') return spoilBody(draw, request)
  return way === 'headers' ? addHeaders(draw, request) : request
}

/** An existing id for a path parameter, by path or by name. */
function idOf({ found }: Place, draw: Draw, { name: owner }: Tenant, path: string, name: string): string {
  const place = path.slice(0, path.indexOf(`/{${name}}`))
  return found.take(draw, owner, `${name} of ${place}`, `id of ${place}`, name) ?? randomUUID()
}

function bendParameters(
  draw: Draw,
  made: Case,
  names: (readonly [string, 'path' | 'query' | 'header'])[],
): void {
  const [name, where] =
    names.length > 0 && draw.share(0.8) ? draw.of(names) : [nastyText(draw), 'query' as const]
  if (where === 'header') made.headers = { ...made.headers, [name]: toHeader(nastyText(draw)) }
  else made[where] = { ...made[where], [name]: nastyText(draw) }
}

/** Path with ids, and query; sometimes invalid. */
function targetOf(draw: Draw, path: string, { path: ids = {}, query = {} }: Case): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(ids[name] ?? randomUUID()))
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  if (draw.share(0.02))
    pairs.push(...pairs, `limit=${draw.of(['-1', '1e9', '%', '99999999999999999999', '1000', ''])}`)
  const prefix = draw.share(0.02)
    ? draw.of(['/cloud-agent', '/prism-agent', '/cloud-agent/cloud-agent', '/', '/.', '/%2e%2e', '//x'])
    : ''
  return `${prefix}${filled}${draw.share(0.02) ? '/' : ''}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

/** Percent-encodes text. Lone surrogates become invalid UTF-8. */
function encode(text: string): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '')
  return encodeURIComponent(whole) + (whole === text ? '' : '%ed%a0%80')
}

function credentials(
  draw: Draw,
  { access }: Operation,
  tenant: Tenant,
  { tenants }: Place,
): Record<string, string> {
  if (draw.share(0.04))
    return draw.of<Record<string, string>>([
      {},
      { apikey: toHeader(nastyText(draw)) },
      { 'x-admin-api-key': toHeader(nastyText(draw)) },
      { authorization: 'Bearer e30.e30.' },
      { apikey: draw.of(tenants).apiKey },
      { 'x-admin-api-key': adminKey },
    ])
  if (access === 'admin' || (access === 'either' && draw.share(0.5))) return { 'x-admin-api-key': adminKey }
  return access === 'public' ? {} : { apikey: tenant.apiKey }
}

const contentTypes = [
  'text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=x',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/vnd.x+json',
  'APPLICATION/JSON',
  'json',
  '/',
  '',
  ';',
  'application/json, text/html',
]

function spoilBody(draw: Draw, request: Request): Request {
  const body = Buffer.from(request.body ?? '{}')
  const { headers } = request
  switch (draw.kind({ spoilt: 6, packed: 2, type: 2, any: 1, large: 0.3, cut: 1 })) {
    case 'spoilt':
      return {
        ...request,
        body: spoil(draw, body),
        headers: { 'content-type': 'application/json', ...headers },
      }
    case 'packed': {
      const encoding = draw.of(['gzip', 'deflate', 'br', 'identity', 'x', 'gzip, gzip'])
      const packed = draw.of([
        gzipSync(body),
        deflateSync(body),
        body,
        gzipSync(Buffer.alloc(draw.of([100_000, 5_000_000]))),
      ])
      return {
        ...request,
        body: packed,
        headers: { ...headers, 'content-type': 'application/json', 'content-encoding': encoding },
      }
    }
    case 'type':
      return { ...request, body, headers: { ...headers, 'content-type': draw.of(contentTypes) } }
    case 'any':
      return { ...request, body: anyBytes(draw), headers: { ...headers, 'content-type': 'application/json' } }
    case 'large':
      return {
        ...request,
        body: Buffer.alloc(
          draw.of([1_048_575, 1_048_577, 3_000_000]),
          draw.of(['[', '"a"', '{"a":', ' ', '0']),
        ),
        headers: { ...headers, 'content-type': 'application/json' },
      }
    case 'cut':
      return { ...request, body, isCut: true, headers: { 'content-type': 'application/json', ...headers } }
  }
}

const headerNames = words(`
  accept accept-language x-request-id x-forwarded-for origin if-none-match if-modified-since range
  last-event-id expect cookie prefer forwarded x-http-method-override access-control-request-method upgrade
  te host
`)
const headerTexts = [
  '*/*',
  'text/html',
  'application/did+ld+json',
  'application/did-resolution',
  'x/y;q=1e9',
  'text/html;q=-1,*/*;q=x',
  '"',
  'W/"x"',
  '*',
  'bytes=0-99999999999999',
  '127.0.0.1, ::1',
  'http://evil.example',
  'null',
  '100-continue',
  'websocket',
  'evil.example',
  'localhost:1',
  '[::1',
  'a;b=c;__proto__=d',
  ',,,,',
  'Thu, 99 Foo 99999',
]

function addHeaders(draw: Draw, request: Request): Request {
  const added = Array.from({ length: 1 + draw.below(3) }, () => [
    draw.of(headerNames),
    draw.share(0.7) ? draw.of(headerTexts) : toHeader(nastyText(draw)),
  ])
  const method = draw.share(0.1)
    ? draw.of(['OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'PUT', 'DELETE', 'PATCH', 'POST', 'GET'])
    : request.method
  return { ...request, method, headers: { ...request.headers, ...Object.fromEntries(added) } }
}

/** The part of a text that is valid in a header. */
function toHeader(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 4_000)
}
