/** Parameters of OAuth requests, from a form or a query, and of responses in a redirect. */
import type * as z from 'zod'
import { OAuthError } from './oauth-error.ts'

/** The grant whose code is in the offer (VCI §4.1.1). */
export const preAuthorizedGrant = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

/**
 * RFC 6749 §3.1 and §3.2: a parameter must not be repeated, and one without a value is absent.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function readParameters<Type extends z.ZodType>(
  type: Type,
  parameters: URLSearchParams,
): z.output<Type> {
  const names = [...parameters.keys()]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined)
    throw new OAuthError('invalid_request', `${repeated.slice(0, 100)} is sent more than once.`)
  const parsed = type.safeParse(Object.fromEntries([...parameters].filter(([, value]) => value !== '')))
  if (parsed.success) return parsed.data
  const { path, message, code } = parsed.error.issues[0]!
  const isMissing = code === 'invalid_type'
  throw new OAuthError('invalid_request', `${path.join('.')} ${isMissing ? 'is missing.' : message}`)
}

/**
 * The header `Authorization` of a client with a secret. Both parts are encoded as in a form (RFC 6749
 * §2.3.1).
 */
export function basicOf(clientId: string, clientSecret: string): string {
  const encode = (part: string) => new URLSearchParams({ part }).toString().slice('part='.length)
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`
}

/** Parameters of a URL for wallets, which decode `+` differently: percent-encoded, others than texts as JSON. */
export function encodeParameters(parameters: object): string {
  return Object.entries(parameters)
    .map(([name, value]: [string, unknown]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${name}=${encodeURIComponent(text)}`
    })
    .join('&')
}

/** The redirect URI with response parameters (RFC 6749 §4.1.2). Its own text stays as it is. */
export function withParameters(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined)
  const separator = redirectUri.includes('?') ? '&' : '?'
  return redirectUri + separator + new URLSearchParams(given).toString()
}
