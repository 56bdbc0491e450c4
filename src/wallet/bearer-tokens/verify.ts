/**
 * Checks of bearer tokens: signed JWTs of the operator's OpenID provider (RFC 9068, RFC 8725), or of a
 * Keycloak.
 *
 * A refused token is `InvalidCredentials` (401), with one sentence about the reason. Nothing of a token is
 * used before its signature is verified.
 */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose'
import * as z from 'zod'
import { isMediaType } from '../../foundation/media-type.ts'
import type { OidcSettings } from '../../foundation/config/oidc.ts'
import { Problem } from '../../foundation/problem.ts'
import { allScopes, type Scope } from '../model.ts'
import type { Provider } from './provider.ts'

/** The subject of a token: an account of the provider, or a client. */
export type Login = { issuer: string; subject: string }

export type Role = 'admin' | 'tenant'

/** The meaning of a token. Without `scopes`, a tenant's token has all of them. */
export type Identity = Login & { role: Role; scopes?: readonly Scope[] }

/** The longest token. The limit of Node.js for all headers is 16 KiB. */
const maxLength = 12_288

/** The subject, as an audit log can hold it (OpenID Connect Core §2: at most 255 ASCII characters). */
export const Subject = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'is not 1 to 255 characters of visible ASCII')

const text = z.string()
const Claims = z.looseObject({
  sub: Subject,
  exp: z.number(),
  iat: z.number().optional(),
  aud: z.union([text, z.array(text)]).optional(),
  azp: text.optional(),
  client_id: text.optional(),
  typ: text.optional(),
})
type Claims = z.infer<typeof Claims>

/**
 * @throws {Problem} `InvalidCredentials`, `InvalidRole`, or `ServiceUnavailable` if the keys of the provider
 * are not known
 */
export async function verifyToken(
  token: string,
  provider: Provider,
  settings: OidcSettings,
): Promise<Identity> {
  if (token.length > maxLength) throw invalidToken(`has more than ${maxLength} characters`)
  const { issuer, algorithms, leewaySeconds } = settings
  const options: JWTVerifyOptions = {
    issuer,
    algorithms: [...algorithms],
    clockTolerance: leewaySeconds,
    requiredClaims: ['exp'],
  }
  const { payload, protectedHeader } = await jwtVerify(token, provider.findKey, options).catch(
    (error: unknown) => {
      throw error instanceof Problem ? error : invalidToken(faultOf(error), error)
    },
  )
  const claims = readClaims(payload)
  assertAccessToken(protectedHeader.typ, claims)
  if (claims.iat !== undefined && claims.iat > Date.now() / 1_000 + leewaySeconds)
    throw invalidToken('was issued in the future')
  if (claims['cnf'] !== undefined) throw invalidToken('is bound to a key (cnf), and is not a bearer token')
  if (!isForAgent(claims, settings)) throw invalidToken('is for another audience')
  const scopes = scopesOf(claims, settings)
  return { issuer, subject: claims.sub, role: roleOf(claims, settings), ...(scopes && { scopes }) }
}

function readClaims(payload: JWTPayload): Claims {
  const { data, error } = Claims.safeParse(payload)
  if (data) return data
  const [issue] = error.issues
  const name = String(issue?.path[0])
  throw invalidToken(payload[name] === undefined ? `has no claim ${name}` : `has a malformed claim ${name}`)
}

/**
 * Claims of ID tokens and logout tokens (OpenID Connect Core §3.3.2.11, Back-Channel Logout §2.4), which
 * access tokens do not have.
 */
const foreignClaims = ['at_hash', 'c_hash', 's_hash', 'events']

/**
 * Access tokens have the type `at+jwt` (RFC 9068 §2.1), or, of a Keycloak, the claim `typ` with the value
 * `Bearer`. Those of other providers have the client or the scope as a claim, which ID tokens have not.
 */
function assertAccessToken(typ: string | undefined, claims: Claims): void {
  const isAccessToken = isMediaType(typ, 'at+jwt') || claims.typ === 'Bearer'
  const isPlain = isMediaType(typ ?? 'JWT', 'JWT') && claims.typ === undefined
  const hasClient = ['client_id', 'scope', 'scp', 'cid'].some((name) => claims[name] !== undefined)
  const isForeign = foreignClaims.some((name) => claims[name] !== undefined)
  if (isForeign || !(isAccessToken || (isPlain && hasClient)))
    throw invalidToken('is a JWT of another kind, such as an ID token')
}

function isForAgent({ aud, azp, client_id: client }: Claims, { audience, clientId }: OidcSettings): boolean {
  const audiences = [aud ?? []].flat()
  if (audience !== undefined && audiences.includes(audience)) return true
  return clientId !== undefined && [...audiences, azp, client].includes(clientId)
}

/** The role of a token. @throws {Problem} `InvalidRole` without a role or with both */
function roleOf(claims: Claims, { rolesClaim, defaultRole }: OidcSettings): Role {
  const named = wordsAt(claims, rolesClaim)
  const roles = (['admin', 'tenant'] as const).filter((role) => named.includes(role))
  const role = roles.length === 0 ? defaultRole : roles[0]
  if (role !== undefined && roles.length < 2) return role
  throw new Problem(
    'error:AuthenticationError:InvalidRole',
    `The token has ${roles.length === 0 ? 'no role' : 'both roles'}. Its claim ${rolesClaim.join('.')} must name either admin or tenant.`,
  )
}

function scopesOf(claims: Claims, { scopeClaim }: OidcSettings): readonly Scope[] | undefined {
  if (!scopeClaim) return undefined
  const named = wordsAt(claims, scopeClaim)
  return named.includes('all') ? undefined : allScopes.filter((scope) => named.includes(scope))
}

/** The texts of a claim at a path: an array, or words with spaces between them. */
function wordsAt(claims: Claims, path: readonly string[]): unknown[] {
  let value: unknown = claims
  for (const name of path)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined
  if (Array.isArray(value)) return value
  return typeof value === 'string' ? value.split(' ') : []
}

/**
 * The reason why `jwtVerify` refuses a token. It continues a sentence about the token. The library throws
 * other errors for keys that do not fit a token.
 */
export function faultOf(error: unknown): string {
  if (!(error instanceof errors.JOSEError)) return 'is signed with a key that cannot be used for it'
  if (error instanceof errors.JWTExpired) return 'has expired'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'is signed with an algorithm that is not accepted'
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'is signed with a key that the provider does not publish'
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'does not name its key'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'has a wrong signature'
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'is not a signed JWT'
  if (error.reason === 'missing') return `has no claim ${error.claim}`
  const reasons: Record<string, string> = {
    nbf: 'is not valid yet',
    iss: 'is of another issuer',
    aud: 'is for another audience',
    iat: 'was issued in the future',
  }
  return reasons[error.claim] ?? `has a malformed claim ${error.claim}`
}

/** `reason` continues the sentence "The bearer token". */
function invalidToken(reason: string, cause?: unknown): Problem {
  const detail = `The bearer token ${reason}.`
  return new Problem('error:AuthenticationError:InvalidCredentials', detail, { cause })
}
