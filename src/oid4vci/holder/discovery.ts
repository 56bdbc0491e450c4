/** Finds the metadata of an issuer (VCI §12.2.2) and of the authorization server for an offer (VCI §12.3, RFC 8414 §3). */
import * as z from 'zod'
import { reasonOf } from '../../base/reason.ts'
import { preAuthorizedGrant } from '../../oauth/parameters.ts'
import { type Caller, getDocument, invalidMetadata, requireSafe } from './caller.ts'
import { ReceivedIssuerMetadata, ReceivedServerMetadata } from './issuer-metadata.ts'
import { invalidOffer } from './offer.ts'

export type GrantType = 'authorization_code' | typeof preAuthorizedGrant

/** Authorization servers of an issuer that are asked for their grants. */
const mostServers = 10

/** The metadata, which must name the issuer itself. @throws {Problem} `InvalidIssuerMetadata`; and of `getDocument` */
export async function findIssuerMetadata(
  caller: Caller,
  identifier: string,
): Promise<ReceivedIssuerMetadata> {
  const url = wellKnown(identifier, 'openid-credential-issuer')
  const metadata = read(ReceivedIssuerMetadata, await getDocument(caller, url), url)
  if (metadata.credential_issuer !== identifier)
    throw invalidMetadata(url, `credential_issuer is not ${identifier}, which the offer names`)
  const { credential_endpoint, nonce_endpoint, deferred_credential_endpoint, notification_endpoint } =
    metadata
  for (const endpoint of [
    credential_endpoint,
    nonce_endpoint,
    deferred_credential_endpoint,
    notification_endpoint,
  ])
    if (endpoint !== undefined) requireSafe(caller.wallet, endpoint)
  return metadata
}

/**
 * The metadata of the authorization server that the offer names, or else of the first one of the issuer that has the grant.
 *
 * @throws {Problem} `InvalidCredentialOffer` if the issuer does not have the server; `InvalidIssuerMetadata`; and of `getDocument`
 */
export async function findServerMetadata(
  caller: Caller,
  { credential_issuer: issuer, authorization_servers: listed }: ReceivedIssuerMetadata,
  grant: GrantType,
  named: string | undefined,
): Promise<ReceivedServerMetadata> {
  const servers = listed ?? [issuer]
  if (named !== undefined && !servers.includes(named))
    throw invalidOffer(`its authorization_server ${named} is not one of the issuer’s metadata`)
  const candidates = named === undefined ? servers.slice(0, mostServers) : [named]
  if (candidates.length === 1) return readServer(caller, candidates[0]!)
  for (const each of candidates) {
    const server = await readServer(caller, each)
    if (hasGrant(server, grant)) return server
  }
  throw invalidOffer(`no authorization server of the issuer has the grant ${grant}`)
}

/** RFC 8414 §2: the default is authorization_code and implicit. Servers may have the pre-authorized code without saying so. */
function hasGrant({ grant_types_supported: grants }: ReceivedServerMetadata, grant: GrantType): boolean {
  return grants === undefined || grants.includes(grant)
}

async function readServer(caller: Caller, identifier: string): Promise<ReceivedServerMetadata> {
  requireSafe(caller.wallet, identifier)
  const url = wellKnown(identifier, 'oauth-authorization-server')
  const document =
    (await getDocument(caller, url)) ??
    (await getDocument(caller, `${identifier.replace(/\/$/, '')}/.well-known/openid-configuration`))
  const metadata = read(ReceivedServerMetadata, document, url)
  if (metadata.issuer !== identifier) throw invalidMetadata(url, `issuer is not ${identifier}`)
  const {
    token_endpoint,
    authorization_endpoint,
    pushed_authorization_request_endpoint,
    challenge_endpoint,
  } = metadata
  for (const endpoint of [
    token_endpoint,
    authorization_endpoint,
    pushed_authorization_request_endpoint,
    challenge_endpoint,
  ])
    if (endpoint !== undefined) requireSafe(caller.wallet, endpoint)
  return metadata
}

/** RFC 8414 §3.1: the well-known path is inserted before that of the identifier. */
function wellKnown(identifier: string, name: string): string {
  const { origin, pathname } = new URL(identifier)
  return `${origin}/.well-known/${name}${pathname === '/' ? '' : pathname}`
}

function read<Type extends z.ZodType>(type: Type, document: unknown, url: string): z.output<Type> {
  if (document === undefined) throw invalidMetadata(url, 'there are none')
  const parsed = type.safeParse(document)
  if (parsed.success) return parsed.data
  throw invalidMetadata(url, reasonOf(parsed.error), parsed.error)
}
