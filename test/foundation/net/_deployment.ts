/**
 * The built daemon with every request to an address that peers or tenants name, triggered over HTTP and
 * DIDComm.
 */
import { randomUUID } from 'node:crypto'
import { createClient } from '../../../daemon/client/client.ts'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../../src/did/document.ts'
import { resolvePeerDid } from '../../../src/did/peer.ts'
import { packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { vc } from '../../credentials/codecs/_forge.ts'
import { Daemon } from '../../support/daemon.ts'
import { decode, encode } from '../../support/invitation.ts'
import { openProxy } from '../../support/proxy.ts'
import { newDid, type Tenant } from '../../support/tenants.ts'
import { addressOf, post, recipientOf } from '../../support/party.ts'
import { authorityOf, peerAt } from './_sites.ts'

export type Deployment = {
  /** Makes the agent request a URL, by the name of the request. */
  sites: Readonly<Record<string, (url: string) => Promise<unknown>>>
  daemon: Daemon
  call: Tenant['call']
  /** The URL of its DIDComm endpoint. */
  didcomm: string
  [Symbol.asyncDispose](): Promise<void>
}

const apiKey = 'the-default-tenant-of-the-tests'
const publicHosts = { rest: 'agent.example', didcomm: 'didcomm.example' }

/** The settings of an agent with the public URLs `https://agent.example` and `https://didcomm.example`. */
export const publicSettings = {
  AGENT_TRUST_PROXY: 'true',
  MEDIATOR_TRUST_PROXY: 'true',
  REST_SERVICE_URL: `https://${publicHosts.rest}`,
  DIDCOMM_SERVICE_URL: `https://${publicHosts.didcomm}`,
}

/** Starts a daemon. Calls go through reverse proxies, as on the Internet, unless it is local. */
export async function deploy(
  env: Record<string, string>,
  { isProxied }: { isProxied: boolean },
): Promise<Deployment> {
  const opened: AsyncDisposable[] = []
  const keep = <Opened extends AsyncDisposable>(each: Opened) => (opened.unshift(each), each)
  const daemon = keep(
    await Daemon.start({
      AGENT_LOG_LEVEL: 'silent',
      DEFAULT_WALLET_AUTH_API_KEY: apiKey,
      WEBHOOKS_PER_WALLET: '1000',
      INVITATION_REPLIES_PER_MINUTE: '1000',
      ...env,
    }),
  )
  const reach = async (url: string, host: string) =>
    isProxied ? keep(await openReverseProxy(url, host)).url : url
  const rest = await reach(daemon.url, publicHosts.rest)
  const didcomm = await reach(daemon.didcommUrl, publicHosts.didcomm)
  const call = createClient(rest, { apikey: apiKey })
  return {
    daemon,
    call,
    didcomm,
    sites: await openSites({ call, rest, didcomm }),
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each[Symbol.asyncDispose]()
    },
  }
}

/** A reverse proxy that forwards the client's address and the public host. */
async function openReverseProxy(target: string, host: string) {
  const proxy = await openProxy(({ headers, socket }) => ({
    ...headers,
    host,
    'x-forwarded-for': socket.remoteAddress!,
  }))
  proxy.leadTo(target)
  return proxy
}

async function openSites({
  call,
  rest,
  didcomm,
}: {
  call: Tenant['call']
  rest: string
  didcomm: string
}): Promise<Deployment['sites']> {
  const { did: issuingDID } = await newDid({ call } as Tenant, 'assertionMethod')
  const { longFormDid } = await newDid({ call } as Tenant, 'authentication')
  const verify = (verification: 'SchemaCheck' | 'RevocationCheck' | 'SignatureVerification', jwt: string) =>
    call('POST /verification/credential', { body: [{ credential: jwt, verifications: [{ verification }] }] })
  const didWeb = (url: string) => `did:web:${authorityOf(url)}:${randomUUID()}`
  return {
    'a did:web that any client resolves': async (url) =>
      (await fetch(`${rest}/dids/${encodeURIComponent(didWeb(url))}`)).text(),
    'the did:web of an issuer': (url) =>
      verify(
        'SignatureVerification',
        vc((payload) => (payload['iss'] = payload['vc'].issuer.id = didWeb(url))),
      ),
    'the schema in an offer': (url) =>
      call('POST /issue-credentials/credential-offers/invitation', {
        body: { issuingDID, claims: { name: 'Alice' }, schemaId: `${url}offer` },
      }),
    'the schema of a credential': (url) =>
      verify(
        'SchemaCheck',
        vc((payload) => (payload['vc'].credentialSchema = { id: `${url}schema`, type: 'JsonSchema2022' })),
      ),
    'a schema to check': (url) => call('POST /verification/schema', { body: { schemaId: `${url}check` } }),
    'a status list': (url) =>
      verify(
        'RevocationCheck',
        vc((payload) => {
          const entry = { type: 'StatusList2021Entry', statusPurpose: 'Revocation', statusListIndex: 1 }
          payload['vc'].credentialStatus = {
            id: `${url}list#1`,
            statusListCredential: `${url}list`,
            ...entry,
          }
        }),
      ),
    'an answer to a DID request': (url) =>
      call('POST /onboard/answers', { body: { didRequest: { onboardEndpoint: url }, decline: true } }),
    'an answer to a challenge': (url) =>
      call('POST /did-authentication/answers', {
        body: { challenge: { submissionEndpoint: url, nonce: 'nonce' }, did: longFormDid },
      }),
    'a webhook': async (url) => {
      const { id } = await call('POST /events/webhooks', { body: { url } })
      await call('POST /events/webhooks/{id}/test', { path: { id }, body: {} })
    },
    'a ping of a tenant': (url) => call('POST /didcomm/pings', { body: { did: peerAt(url) } }),
    'a ping of a stranger': async (url) => {
      const { invitation } = await call('POST /connections', { body: {} })
      return pingAsStranger(invitation.from, url, didcomm)
    },
    'an invitation that is accepted': async (url) => {
      const invitation = {
        ...decode(await call('POST /connections', { body: {} })),
        id: randomUUID(),
        from: peerAt(url),
      }
      return call('POST /connection-invitations', { body: { invitation: encode(invitation) } })
    },
  }
}

/** Pings a DID of the agent from a new DID whose endpoint is `url`. Returns the status of the response. */
export async function pingAsStranger(to: string, url: string, didcomm: string): Promise<number> {
  const privateJwk = generateKey('X25519')
  const did = peerAt(url, privateJwk)
  const sender = { kid: keysFor(resolvePeerDid(did), 'keyAgreement')[0]!.id, privateJwk }
  const message = {
    id: randomUUID(),
    type: 'https://didcomm.org/trust-ping/2.0/ping',
    from: did,
    to: [to],
    body: { response_requested: true },
  }
  const { pathname } = new URL(addressOf(to))
  const { status } = await post(
    didcomm + pathname,
    packAuthcrypt(
      { ...message, typ: 'application/didcomm-plain+json' },
      { sender, recipients: [recipientOf(to)] },
    ),
  )
  return status
}
