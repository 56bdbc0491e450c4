/**
 * Where the metadata of issuers and authorization servers are. A slash at the end of an identifier does not
 * count (RFC 8414 §3.1).
 */

/**
 * The places of the metadata of a credential issuer, the usual one first: of VCI §12.2.2, also as it reads
 * for a path with a slash at its end, and of the drafts before.
 */
export function issuerMetadataUrls(identifier: string): string[] {
  const name = 'openid-credential-issuer'
  const usual = inserted(identifier, name)
  const literal = identifier.endsWith('/') ? `${usual}/` : usual
  return [...new Set([usual, literal, appended(identifier, name)])]
}

/** The places of the metadata of an authorization server: of RFC 8414 §3, and of OpenID Connect Discovery §4. */
export function serverMetadataUrls(identifier: string): [oauth: string, openId: string] {
  return [inserted(identifier, 'oauth-authorization-server'), appended(identifier, 'openid-configuration')]
}

/**
 * Whether two identifiers are the same but for a slash at the end, so that their metadata are at the same
 * places.
 */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '')
}

/** The well-known path before that of the identifier. */
function inserted(identifier: string, name: string): string {
  const [origin, path] = partsOf(identifier)
  return `${origin}/.well-known/${name}${path}`
}

/** The well-known path after that of the identifier. */
function appended(identifier: string, name: string): string {
  const [origin, path] = partsOf(identifier)
  return `${origin}${path}/.well-known/${name}`
}

function partsOf(identifier: string): [origin: string, path: string] {
  const { origin, pathname } = new URL(identifier)
  return [origin, pathname.replace(/\/$/, '')]
}
