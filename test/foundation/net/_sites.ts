/**
 * Every request to a URL that a tenant or a peer names, and how to trigger it. `sites.test.ts` finds these
 * requests in the code: a new use of the HTTP client needs a row here.
 */
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { newId } from '../../../src/foundation/id.ts'
import { deliverTest } from '../../../src/wallet/events/deliver.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { toMultikey } from '../../../src/did/multikey.ts'
import { checkReceivers } from '../../../src/operations/doctor/webhook-receivers.ts'
import { readIncoming } from '../../../src/agent/incoming.ts'
import { answerChallenge, answerDidRequest } from '../../../src/exchange/enterprise/respond.ts'
import { createPost } from '../../../src/exchange/mediator/mediator.ts'
import { createWebhook } from '../../../src/wallet/events/webhooks.ts'
import { findShortUrl } from '../../../src/foundation/net/short-url.ts'
import { askSource } from '../../../src/exchange/oid4vci/claims-source.ts'
import { readExtended } from '../../../src/exchange/oid4vci/extended-type.ts'
import { newSecret } from '../../../src/wallet/events/signature.ts'
import { readExternalToken } from '../../../src/exchange/oid4vci/external-server.ts'
import { readUserInfo, redeemCode } from '../../../src/exchange/oid4vci/log-in/client.ts'
import { getProvider } from '../../../src/exchange/oid4vci/log-in/provider.ts'
import { getDocument } from '../../../src/exchange/oid4vci/holder/caller.ts'
import { retrieveRequestObject } from '../../../src/exchange/oid4vp/holder/request-object.ts'
import { postResponse } from '../../../src/exchange/oid4vp/holder/response.ts'
import { sendMessage } from '../../../src/exchange/engine/send.ts'
import { resolverOf } from '../../../src/exchange/protocols/trust-ping/flow.ts'
import { savePeerDid, newPeerDid } from '../../../src/wallet/peer-dids.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import type { TestAgent } from '../../support/agent.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'

/** Makes the agent request a URL. The result does not matter. */
export type SiteRequest = (url: string) => unknown

/** Files that use the HTTP client, with the requests that they make. */
export const guardedFiles: Readonly<Record<string, readonly string[]>> = {
  'src/wallet/events/deliver.ts': ['webhook'],
  'src/wallet/credential-status/read.ts': ['status list'],
  'src/did/web.ts': ['did:web'],
  'src/operations/doctor/webhook-receivers.ts': ['receiver of webhooks'],
  'src/exchange/enterprise/respond.ts': ['answer to a DID request', 'answer to a challenge'],
  'src/agent/incoming.ts': ['link of any kind'],
  'src/exchange/mediator/mediator.ts': ['answer of the mediator'],
  'src/foundation/net/short-url.ts': ['short URL'],
  'src/exchange/oid4vci/external-server.ts': ['external authorization server'],
  'src/exchange/oid4vci/claims-source.ts': ['claims source'],
  'src/exchange/oid4vci/extended-type.ts': ['type metadata that a type extends'],
  'src/exchange/oid4vci/log-in/client.ts': [
    'metadata of a log-in',
    'token endpoint of a log-in',
    'UserInfo of a log-in',
  ],
  'src/exchange/oid4vci/holder/caller.ts': ['offer of OpenID4VCI'],
  'src/exchange/oid4vp/holder/request-object.ts': ['request_uri of a verifier'],
  'src/exchange/oid4vp/holder/response.ts': ['response_uri of a verifier'],
  'src/exchange/engine/send.ts': ['DIDComm message', 'DIDComm message by a mediator'],
  'src/credentials/schemas/resource.ts': ['schema', 'schema of a DID', 'credential definition'],
}

/** Files that request addresses of the operator, with the variables that configure them. */
export const operatorFiles: Readonly<Record<string, readonly string[]>> = {
  'src/wallet/bearer-tokens/provider.ts': ['OIDC_ISSUER', 'KEYCLOAK_URL'],
  'src/did/ledger/neoprism-client.ts': ['VDR_URL'],
  'src/operations/doctor/credential-issuers.ts': ['REST_SERVICE_URL'],
  'src/operations/doctor/public-addresses.ts': ['REST_SERVICE_URL', 'DIDCOMM_SERVICE_URL'],
  'src/operations/doctor/clock.ts': ['VDR_URL'],
}

/** Files that request the addresses that a person gives to a command, as a browser does. */
export const commandLineFiles = ['src/operations/decode/index.ts']

/** Triggers each request by its name above. */
export async function openSites({ agent }: TestAgent): Promise<Record<string, SiteRequest>> {
  const walletId = (await agent.wallets.ids())[0]!
  const use = <T>(work: (wallet: Wallet) => Promise<T>) => agent.wallets.use(walletId, work)
  const { env, log } = agent
  const from = await use(async (wallet) => {
    const made = newPeerDid(wallet)
    await wallet.transaction((tx) => savePeerDid(tx, wallet, made, newId()))
    return made.did
  })
  const { post } = createPost(env.http, log)
  const send = (to: string) =>
    use((wallet) =>
      sendMessage(
        wallet,
        newId(),
        {
          kind: 'message',
          protocol: 'trust-ping',
          recordId: '',
          from,
          to,
          message: { type: 'https://didcomm.org/trust-ping/2.0/ping', body: {} },
        },
        resolverOf(wallet, from),
      ),
    )
  return {
    webhook: async (url) => {
      await use(async (wallet) => {
        const made = { url, customHeaders: {}, signed: false }
        const { id } = await rewriteRows(wallet, (tx) => createWebhook(tx, wallet, made, Infinity))
        await deliverTest(wallet, id, 'ConnectionUpdated')
      })
    },
    'status list': (url) => env.getStatusList(url, 'StatusList2021Entry'),
    'did:web': (url) => env.resolver.document(`did:web:${authorityOf(url)}`),
    'receiver of webhooks': (url) => {
      const webhooks = [{ walletId, webhookId: newId(), url, waiting: 0 }]
      return checkReceivers({
        http: env.http,
        operatorHttp: env.operatorHttp,
        globalUrl: undefined,
        webhooks,
      })
    },
    'answer to a DID request': (url) =>
      use((wallet) =>
        answerDidRequest(wallet, {
          didRequest: { onboardEndpoint: url, from: undefined },
          did: undefined,
          decline: true,
        }),
      ),
    'answer to a challenge': (url) =>
      use((wallet) =>
        answerChallenge(wallet, {
          challenge: { submissionEndpoint: url, nonce: 'nonce', from: undefined },
          did: from,
        }),
      ),
    'link of any kind': (url) => use((wallet) => readIncoming(wallet, url)),
    'answer of the mediator': (url) => post(url, '{}'),
    'DIDComm message': (url) => send(peerAt(url)),
    'DIDComm message by a mediator': (url) => send(peerAt(peerAt(url))),
    'short URL': (url) => {
      const short = findShortUrl(`${url}?_oobid=id`)
      return short && env.retrieve(short)
    },
    'external authorization server': (url) =>
      readExternalToken(
        env.http,
        { url, clientId: 'issuer', clientSecret: 'secret' },
        { token: 'token', audiences: [], leewaySeconds: 0 },
      ),
    'claims source': (url) =>
      askSource(env, {
        source: { url, onFailure: 'defer', keepClaims: true },
        secrets: [{ secret: newSecret() }],
        id: newId(),
        request: {
          issuerId: '',
          recordId: '',
          configurationId: '',
          credentialIdentifier: '',
          purpose: 'issue',
          offered: {},
          wanted: [],
          wallet: { attested: false },
        },
      }),
    'metadata of a log-in': (url) => use((wallet) => getProvider(wallet, url)),
    'token endpoint of a log-in': (url) =>
      use((wallet) =>
        redeemCode(wallet, clientAt(wallet, url), { code: '', redirect_uri: '', code_verifier: '' }),
      ),
    'UserInfo of a log-in': (url) =>
      use((wallet) => readUserInfo(wallet, clientAt(wallet, url), { accessToken: 'token', sub: 'alice' })),
    // Only hosts over https reach the guard without this setting.
    'offer of OpenID4VCI': (url) =>
      use((wallet) => getDocument({ wallet: overHttp(wallet), calls: [] }, url)),
    'type metadata that a type extends': (url) => use((wallet) => readExtended(overHttp(wallet), url)),
    'request_uri of a verifier': (url) =>
      use((wallet) =>
        retrieveRequestObject(wallet, url, { clientId: '', walletNonce: 'nonce' }, () => undefined),
      ),
    'response_uri of a verifier': (url) => use((wallet) => postResponse(wallet, url, 'error=access_denied')),
    schema: (url) => env.getSchema(url),
    'credential definition': (url) => env.getCredentialDefinition(url),
    'schema of a DID': (url) => env.getSchema(`${peerAt(url)}?resourceService=service&resourcePath=schema`),
  }
}

/** Returns a did:peer:2 with any text as its service. The agent's own function refuses most of them. */
export function peerAt(uri: string, agreementKey = generateKey('X25519')): string {
  const [agreement, authentication] = [agreementKey, generateKey('Ed25519')].map((key) =>
    toMultikey(toPublic(key)),
  )
  const service = toBase64url(JSON.stringify({ t: 'dm', s: { uri, r: [], a: ['didcomm/v2'] } }))
  return `did:peer:2.E${agreement}.V${authentication}.S${service}`
}

/** Host and port of a URL as written, with the characters encoded that a did:web must encode. */
export function authorityOf(url: string): string {
  const written = /^[a-z+-]*:?[\\/]*([^\\/?#]*)/is.exec(url)?.[1] ?? ''
  return written
    .replace(/:(?=\d+$)/, '%3A')
    .replace(/\[(.*)\]/, (_, ip: string) => `%5B${ip.replaceAll(':', '%3A')}%5D`)
}

/** A wallet that reads documents over http as well. */
function overHttp(wallet: Wallet): Wallet {
  const config = { ...wallet.env.config, AGENT_ALLOW_PRIVATE_NETWORK: true }
  return { ...wallet, env: { ...wallet.env, config } }
}

/** A client at an OpenID provider whose endpoints are all this URL. */
function clientAt(wallet: Wallet, url: string) {
  const [issuerId, scope, claimsFrom] = [newId(), 'openid', 'userinfo' as const]
  const secret = wallet.seal(`credential-issuer-log-in:${issuerId}`, 'secret')
  const metadata = { issuer: url, authorization_endpoint: url, token_endpoint: url, userinfo_endpoint: url }
  return { issuerId, settings: { issuer: url, clientId: 'issuer', scope, claimsFrom, secret }, metadata }
}
