/** Checks that wallets can read the metadata of OpenID4VCI issuers at the public URL. */
import { readForeign } from '../../foundation/foreign.ts'
import { tryParseJson, isJsonObject } from '../../foundation/json.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { issuerMetadataUrls, serverMetadataUrls } from '../../foundation/oauth/well-known.ts'
import {
  ReceivedIssuerMetadata,
  ReceivedServerMetadata,
} from '../../exchange/oid4vci/holder/issuer-metadata.ts'
import { identifierOf } from '../../exchange/oid4vci/issuers.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Finding } from './check.ts'

type Http = Pick<HttpClient, 'exchange'>

/** Below half the time limit of a check, so that the finding names the reason. */
const timeoutMs = 2_000
const maxBytes = 1_000_000

/**
 * The documents of an issuer (VCI §12.2.2, RFC 8414 §3), each with the shape that wallets expect and the
 * member that has its identifier.
 */
const documents = [
  [issuerMetadataUrls, ReceivedIssuerMetadata, 'credential_issuer'],
  [serverMetadataUrls, ReceivedServerMetadata, 'issuer'],
] as const

/** Reads the metadata of the oldest issuer. The URLs of all begin with `base`. */
export async function checkIssuers(http: Http, db: AgentDb, base: string): Promise<Finding> {
  const issuers = db.selectFrom('credential_issuer').select('id').orderBy('sequence').limit(1)
  const issuer = await issuers.executeTakeFirst()
  if (!issuer) return { status: 'ok', detail: 'There are no OpenID4VCI issuers.' }
  const identifier = identifierOf(base, issuer.id)
  const { origin, protocol } = new URL(identifier)
  for (const [urlsOf, Shape, member] of documents) {
    const [url] = urlsOf(identifier) as [string]
    const reason = await findObstacle(http, url, (body) => {
      if (!isJsonObject(body) || body[member] !== identifier) return 'it is not the metadata of this issuer'
      const { error } = readForeign(Shape, body)
      return error && `it is not valid metadata (${reasonOf(error)})`
    })
    if (reason !== undefined)
      return {
        status: 'failed',
        detail: `Wallets cannot read the metadata of OpenID4VCI issuers at ${url}: ${reason}.`,
        hint: `curl -i ${url}   # have the proxy pass /.well-known/ to the agent (docs/reference/openid4vci.md)`,
      }
  }
  if (protocol === 'https:')
    return { status: 'ok', detail: `Wallets can read the metadata of OpenID4VCI issuers at ${origin}.` }
  return {
    status: 'warning',
    detail: `The URL of the OpenID4VCI issuer ${identifier} is not https, which wallets require.`,
    hint: 'agent daemon stop; REST_SERVICE_URL=https://<address> agent daemon start   # the address of a proxy with https; open offers keep the old one',
  }
}

/** The reason why a document cannot be read at a URL; undefined when it can. */
async function findObstacle(
  http: Http,
  url: string,
  findFault: (body: unknown) => string | undefined,
): Promise<string | undefined> {
  try {
    const { status, text } = await http.exchange(url, { method: 'GET', headers: {}, timeoutMs, maxBytes })
    if (status !== 200) return `the status is ${status}`
    return findFault(tryParseJson(text))
  } catch (error) {
    return reasonOf(error)
  }
}
