/**
 * Finds the metadata of an issuer (VCI §12.2.2) and of the authorization server for an offer (VCI §12.3, RFC
 * 8414 §3).
 */
import * as z from 'zod'
import { readForeign } from '../../../foundation/foreign.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { preAuthorizedGrant } from '../../../foundation/oauth/parameters.ts'
import { isSameIssuer, issuerMetadataUrls, serverMetadataUrls } from '../../../foundation/oauth/well-known.ts'
import { type Caller, getDocument, invalidMetadata, requireSafe } from './caller.ts'
import { ReceivedConfiguration, ReceivedIssuerMetadata, ReceivedServerMetadata } from './issuer-metadata.ts'
import { invalidOffer } from './offer.ts'

export type GrantType = 'authorization_code' | typeof preAuthorizedGrant

/** Authorization servers of an issuer that are asked for their grants. */
const maxServers = 10

/**
 * The metadata, which must name the issuer itself.
 *
 * @throws {Problem} `InvalidIssuerMetadata`; and of `getDocument`
 */
export async function findIssuerMetadata(
  caller: Caller,
  identifier: string,
): Promise<ReceivedIssuerMetadata> {
  const urls = issuerMetadataUrls(identifier)
  const metadata = await readMetadata(caller, ReceivedIssuerMetadata, urls)
  if (!isSameIssuer(metadata.credential_issuer, identifier))
    throw invalidMetadata(urls[0]!, `credential_issuer is not ${identifier}, which the offer names`)
  return metadata
}

/**
 * A configuration of the metadata, whose other ones are not read. Undefined if there is none.
 *
 * @throws {Problem} `InvalidIssuerMetadata`
 */
export function findConfiguration(
  { credential_configurations_supported: all, credential_issuer: issuer }: ReceivedIssuerMetadata,
  id: string,
): ReceivedConfiguration | undefined {
  if (!Object.hasOwn(all, id)) return undefined
  const document = { credential_configurations_supported: { [id]: all[id] } }
  return read(OneConfiguration, document, issuer).credential_configurations_supported[id]
}

const OneConfiguration = z.object({
  credential_configurations_supported: z.record(z.string(), ReceivedConfiguration),
})

/**
 * The metadata of the authorization server that the offer names, or else of the first one of the issuer that
 * can be read and has the grant.
 *
 * @throws {Problem} `InvalidCredentialOffer` if the issuer does not have the server; `InvalidIssuerMetadata`;
 * and of `getDocument`
 */
export async function findServerMetadata(
  caller: Caller,
  { credential_issuer: issuer, authorization_servers: listed }: ReceivedIssuerMetadata,
  grant: GrantType,
  named: string | undefined,
): Promise<ReceivedServerMetadata> {
  const servers = listed && listed.length > 0 ? listed : [issuer]
  if (named !== undefined && !servers.some((each) => isSameIssuer(each, named)))
    throw invalidOffer(`its authorization_server ${named} is not one of the issuer’s metadata`)
  const candidates = named === undefined ? servers.slice(0, maxServers) : [named]
  if (candidates.length === 1) return readServer(caller, candidates[0]!)
  let fault: Problem | undefined
  for (const each of candidates) {
    try {
      const server = await readServer(caller, each)
      // RFC 8414 §2: the default is authorization_code and implicit. Servers may have the pre-authorized code
      // without saying so.
      if (server.grant_types_supported?.includes(grant) ?? true) return server
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      fault ??= error
    }
  }
  if (fault) throw fault
  throw invalidOffer(`no authorization server of the issuer has the grant ${grant}`)
}

async function readServer(caller: Caller, identifier: string): Promise<ReceivedServerMetadata> {
  requireSafe(caller.wallet, identifier)
  const urls = serverMetadataUrls(identifier)
  const metadata = await readMetadata(caller, ReceivedServerMetadata, urls)
  if (!isSameIssuer(metadata.issuer, identifier))
    throw invalidMetadata(urls[0], `issuer is not ${identifier}`)
  return metadata
}

/** The document at the first URL that has one. */
async function readMetadata<Type extends z.ZodType>(
  caller: Caller,
  type: Type,
  urls: readonly string[],
): Promise<z.output<Type>> {
  const faults: string[] = []
  for (const url of urls) {
    const found = await getDocument(caller, url)
    if ('document' in found) return read(type, found.document, url)
    faults.push(faults.length === 0 ? `it ${found.fault}` : `${url} ${found.fault}`)
  }
  throw invalidMetadata(urls[0]!, faults.join('; '))
}

function read<Type extends z.ZodType>(type: Type, document: unknown, url: string): z.output<Type> {
  const parsed = readForeign(type, document)
  if (parsed.success) return parsed.data
  throw invalidMetadata(url, reasonOf(parsed.error), parsed.error)
}
