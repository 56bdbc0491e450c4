/**
 * The keys of an OpenID provider, of the operator or of an issuer, by OpenID Connect Discovery 1.0 and its
 * JWK Set (RFC 7517).
 *
 * The keys are read again every five minutes, and for a token with an unknown key id. Strangers can send such
 * tokens, so that there is at most one reading in an interval, which all requests share. While the provider
 * is away, its last keys are used for a limited time.
 */
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose'
import * as z from 'zod'
import { steadyNow } from '../../foundation/clock.ts'
import type { OidcSettings } from '../../foundation/config/oidc.ts'
import { Problem } from '../../foundation/problem.ts'
import { toKeySet } from '../../foundation/crypto/key-set.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { serverMetadataUrls } from '../../foundation/oauth/well-known.ts'

/** Metadata of a provider (OpenID Connect Discovery §3). */
const Metadata = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) })
type Metadata = z.infer<typeof Metadata>

const limits = { timeoutMs: 5_000, maxBytes: 262_144 }

/** Age at which keys are read again, so that a withdrawn key is soon refused. */
const freshMs = 300_000

type Keys = { find: ReturnType<typeof createLocalJWKSet>; metadata: Metadata; readAtMs: number }

export type Provider = {
  /**
   * Finds the key of a token.
   *
   * @throws {errors.JOSEError} without such a key, and {Problem} 503 if the provider is away and its keys are
   * too old
   */
  findKey: JWTVerifyGetKey
  /** The metadata, as old as the keys. @throws {Problem} 503 */
  getMetadata(): Promise<Metadata>
}

type Options = {
  http: Pick<HttpClient, 'getJson'>
  settings: Pick<OidcSettings, 'issuer' | 'keysLifetimeSeconds' | 'keysRefreshSeconds'>
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

export function createProvider({ http, settings, now = steadyNow }: Options): Provider {
  const [lifetimeMs, refreshMs] = [settings.keysLifetimeSeconds * 1_000, settings.keysRefreshSeconds * 1_000]
  let keys: Keys | undefined
  let failure: Problem | undefined
  let askedAtMs = -Infinity
  let reading: Promise<void> | undefined

  /** Reads the keys, unless that was done in the interval. Requests share a reading. Never rejects. */
  function refresh(): Promise<void> {
    if (reading) return reading
    if (now() - askedAtMs < refreshMs) return Promise.resolve()
    askedAtMs = now()
    const before = now()
    reading = readKeys(http, settings.issuer)
      .then(({ metadata, keySet }) => {
        keys = { find: createLocalJWKSet(keySet), metadata, readAtMs: before }
        failure = undefined
      })
      .catch((error: unknown) => {
        failure = toProblem(settings.issuer, error, settings.keysRefreshSeconds)
      })
      .finally(() => (reading = undefined))
    return reading
  }

  async function getKeys(): Promise<Keys> {
    if (!keys || now() - keys.readAtMs >= Math.min(freshMs, lifetimeMs)) await refresh()
    if (keys && now() - keys.readAtMs < lifetimeMs) return keys
    throw failure ?? toProblem(settings.issuer, undefined, settings.keysRefreshSeconds)
  }

  return {
    getMetadata: async () => (await getKeys()).metadata,
    async findKey(header: JWSHeaderParameters, token) {
      const known = await getKeys()
      try {
        return await known.find(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
        await refresh()
        if (keys === known) throw error
        return (await getKeys()).find(header, token)
      }
    },
  }
}

/** Reads metadata and keys. @throws {UnreachableError}, {z.ZodError} */
export async function readKeys(
  http: Pick<HttpClient, 'getJson'>,
  issuer: string,
): Promise<{ metadata: Metadata; keySet: JSONWebKeySet }> {
  const metadata = await readMetadata(http, issuer)
  return { metadata, keySet: toKeySet(await http.getJson(metadata.jwks_uri, limits)) }
}

/**
 * Reads the metadata of a provider.
 *
 * @throws {UnreachableError} also if they are another issuer's, {z.ZodError}
 */
async function readMetadata(http: Pick<HttpClient, 'getJson'>, issuer: string): Promise<Metadata> {
  const [, url] = serverMetadataUrls(issuer)
  const metadata = Metadata.parse(await http.getJson(url, { ...limits, maxRedirects: 1 }))
  if (metadata.issuer !== issuer)
    throw new UnreachableError('not-json', `its metadata name the issuer ${metadata.issuer.slice(0, 200)}`)
  if (issuer.startsWith('https:') && !metadata.jwks_uri.startsWith('https:'))
    throw new UnreachableError('not-json', 'its metadata name keys at an http URL')
  return metadata
}

/** The reason why metadata or keys cannot be read. It continues a sentence about the provider. */
export function reasonOfProvider(error: unknown): string {
  if (error instanceof z.ZodError) return 'its metadata or its keys are malformed'
  if (error instanceof UnreachableError) return error.message
  throw error
}

function toProblem(issuer: string, error: unknown, retryAfter: number): Problem {
  const reason = error === undefined ? 'its keys have not been read' : reasonOfProvider(error)
  return new Problem(
    'error:ServiceUnavailable',
    `The OpenID provider ${issuer} cannot be asked for its keys, by which tokens are checked: ${reason}.`,
    { cause: error, retryAfter: Math.max(1, retryAfter) },
  )
}
