/**
 * The external authorization server of an issuer: its metadata (RFC 8414, OpenID Connect Discovery), and what
 * an access token of it says. The tenant names the server, so requests go through the guarded HTTP client.
 */
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet } from 'jose'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { quote } from '../../foundation/faults.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { steadyNow } from '../../foundation/clock.ts'
import { ifValid, parseForeign, readForeign } from '../../foundation/foreign.ts'
import { tryParseJson } from '../../foundation/json.ts'
import { isMediaType } from '../../foundation/media-type.ts'
import { Problem } from '../../foundation/problem.ts'
import { toKeySet } from '../../foundation/crypto/key-set.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { basicOf } from '../../foundation/oauth/parameters.ts'
import { isSameIssuer, serverMetadataUrls } from '../../foundation/oauth/well-known.ts'

/** `url` is the issuer identifier of the server. The client is the issuer's own, for introspection. */
export type ExternalServer = { url: string; clientId: string; clientSecret: string }

const Metadata = z.looseObject({
  issuer: z.string(),
  jwks_uri: z.url().optional(),
  introspection_endpoint: ifValid(z.url()),
})

/**
 * `issuer_state` is the claim by which the server says for which offer it authorized the wallet, `cnf` the
 * key that the token is bound to (RFC 9449 §6).
 */
const Claims = z.looseObject({
  issuer_state: z.string(),
  cnf: z.looseObject({ jkt: z.string().optional() }).optional(),
})
const Introspection = z.looseObject({
  active: z.boolean(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number().optional(),
})

const limits = { timeoutMs: 10_000, maxBytes: 262_144 }

/** Signature algorithms of access tokens. `none` and those of shared keys are not among them (RFC 9068 §4). */
const algorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512', 'RS256']

type Known = { metadata: z.infer<typeof Metadata>; keys: JSONWebKeySet; readAtMs: number }

/** Metadata and keys by the URL of the server. They are public. */
const servers = new LRUCache<string, Known>({ max: 100, ttl: 300_000 })

/** A key that is not known is looked for again after this time: the server may have changed its keys. */
const rereadMs = 10_000

/**
 * The `issuer_state` of a valid access token, and the thumbprint of its DPoP key: a JWT, checked by the keys
 * of the server (RFC 9068), or any text, checked by introspection (RFC 7662).
 *
 * @throws {OAuthError} `invalid_token`
 * @throws {Problem} `error:ServiceUnavailable` if the server does not answer
 */
export async function readExternalToken(
  http: HttpClient,
  server: ExternalServer,
  { token, audiences, leewaySeconds }: { token: string; audiences: string[]; leewaySeconds: number },
): Promise<{ issuerState: string; jkt: string | null }> {
  const isJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
  const claims = isJwt
    ? await verifyJwt(http, server, token, { audiences, leewaySeconds })
    : await introspect(http, server, token, audiences)
  const parsed = readForeign(Claims, claims)
  if (!parsed.success) throw invalidToken('has no claim issuer_state')
  return { issuerState: parsed.data.issuer_state, jkt: parsed.data.cnf?.jkt ?? null }
}

/** RFC 9068 §4. */
async function verifyJwt(
  http: HttpClient,
  { url }: ExternalServer,
  token: string,
  { audiences, leewaySeconds }: { audiences: string[]; leewaySeconds: number },
): Promise<unknown> {
  const verify = async (known: Known) => {
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(known.keys), {
      issuer: known.metadata.issuer,
      audience: audiences,
      algorithms,
      requiredClaims: ['exp'],
      clockTolerance: leewaySeconds,
    })
    // An ID token of the server is not an access token.
    if (!isMediaType(protectedHeader.typ ?? 'JWT', 'JWT', 'at+jwt'))
      throw invalidToken(`is a JWT of another kind: its typ is ${quote(protectedHeader.typ)}`)
    return payload
  }
  try {
    const known = await know(http, url)
    return await verify(known).catch(async (error: unknown) => {
      const isUnknownKey = error instanceof errors.JWKSNoMatchingKey
      if (!isUnknownKey || steadyNow() - known.readAtMs < rereadMs) throw error
      servers.delete(url)
      return verify(await know(http, url))
    })
  } catch (error) {
    if (error instanceof Problem || error instanceof OAuthError) throw error
    // The library throws other errors than its own for keys that do not fit a token.
    throw invalidToken(`is not valid: ${reasonOf(error)}`, error)
  }
}

/** RFC 7662 §2. */
async function introspect(
  http: HttpClient,
  { url, clientId, clientSecret }: ExternalServer,
  token: string,
  audiences: readonly string[],
): Promise<unknown> {
  const { introspection_endpoint: endpoint, issuer } = (await know(http, url)).metadata
  if (endpoint === undefined) throw invalidToken('is not a JWT, and its server has no introspection')
  const { status, text } = await reach(url, () =>
    http.exchange(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        authorization: basicOf(clientId, clientSecret),
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      ...limits,
    }),
  )
  const parsed = readForeign(Introspection, tryParseJson(text))
  if (status !== 200 || !parsed.success)
    throw unavailable(url, `its introspection endpoint answered ${status}, and not what a token is`)
  const { active, iss = issuer, aud = audiences, exp } = parsed.data
  if (!active || (exp !== undefined && exp * 1_000 <= Date.now())) throw invalidToken('is not active')
  if (iss !== issuer || ![aud].flat().some((each) => audiences.includes(each)))
    throw invalidToken('is of another server, or for another one')
  return parsed.data
}

/** Metadata and keys of a server, read at most every five minutes. */
async function know(http: HttpClient, url: string): Promise<Known> {
  const cached = servers.get(url)
  if (cached) return cached
  const known = await reach(url, async () => {
    const metadata = await readMetadata(http, url)
    const { jwks_uri: keysUrl } = metadata
    const document = keysUrl === undefined ? { keys: [] } : await http.getJson(keysUrl, limits)
    return { metadata, keys: toKeySet(document), readAtMs: steadyNow() }
  })
  servers.set(url, known)
  return known
}

/** RFC 8414 §3, or OpenID Connect Discovery §4. */
async function readMetadata(http: HttpClient, url: string): Promise<z.infer<typeof Metadata>> {
  const [first, second] = serverMetadataUrls(url)
  const found = await http.getJson(first, limits).catch((error: unknown) => {
    const isElsewhere = error instanceof UnreachableError && ['bad-status', 'not-json'].includes(error.code)
    if (isElsewhere) return http.getJson(second, limits)
    throw error
  })
  const metadata = parseForeign(Metadata, found)
  if (!isSameIssuer(metadata.issuer, url))
    throw new UnreachableError('not-json', `its metadata are of another issuer`)
  return metadata
}

/** Runs requests to the server. @throws {Problem} if one fails, or a response is malformed */
async function reach<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof z.ZodError) throw unavailable(url, 'its metadata or keys are malformed', error)
    if (error instanceof UnreachableError) throw unavailable(url, error.message, error)
    throw error
  }
}

function unavailable(url: string, reason: string, cause?: unknown): Problem {
  const detail = `The authorization server ${url} cannot be used: ${reason}`
  return new Problem('error:ServiceUnavailable', detail, { cause })
}

/** `reason` continues the sentence "The access token". */
function invalidToken(reason: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_token', `The access token ${reason}.`, { cause })
}
