/** The issuers that attacks are made on, and the steps that they share. */
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { startAgent, type TestAgent, type TestOptions } from '../../support/agent.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { startAuthorizationServer, type AuthorizationServer } from './_authorization-server.ts'
import { publishSchema, type Tenant } from '../../support/tenants.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { attested, clientId, newProvider, trust, type ClientParts, type Provider } from './_attestations.ts'
import { consent, offered, redirectUri, type Parameters as Form } from './_authorization.ts'
import { newDpopNonce, post, proofFor, type ProofParts } from './_dpop.ts'
import { useProvider } from './log-in/_browser.ts'
import { startLyingProvider, type LyingProvider } from './log-in/_lying-provider.ts'
import { issuerClient } from './_provider.ts'
import {
  addIssuer,
  codeOf,
  offer,
  preAuthorizedGrant,
  prove,
  readOffer,
  type OfferOptions,
  type Setup,
} from './_wallet.ts'

export type Scene = {
  agent: TestAgent
  /** An issuer of `Person` and `Licence`, and another one of `Person`, of one tenant. */
  setup: Setup
  other: Setup
  /** An issuer that requires attestations of wallets, and of keys for `Strong`. */
  strict: Setup
  provider: Provider
  /** An issuer with an external authorization server. */
  external: Setup
  server: AuthorizationServer
  /** An issuer with a log-in. */
  staff: Setup
  idp: LyingProvider
  [Symbol.asyncDispose](): Promise<void>
}

export async function startScene(options: TestOptions): Promise<Scene> {
  const agent = await startAgent({ OID4VCI_REQUESTS_PER_MINUTE: '100000', OIDC_KEYS_REFRESH: '0' }, options)
  const tenant = await agent.newTenant('issuer')
  const [setup, other] = [await addIssuer(agent, tenant), await addIssuer(agent, tenant)]
  const [strict, external] = [await addIssuer(agent, tenant), await addIssuer(agent, tenant)]
  const [provider, server] = [await newProvider(), await startAuthorizationServer()]
  await trust(strict, provider)
  await addConfiguration(setup, 'Licence', {})
  await addConfiguration(strict, 'Strong', { keyAttestation: { keyStorage: ['iso_18045_high'] } })
  await useServer(external, server.url)
  const [staff, idp] = [await addIssuer(agent, tenant), await startLyingProvider()]
  await useProvider(staff, idp.url)
  return {
    agent,
    setup,
    other,
    strict,
    provider,
    external,
    server,
    staff,
    idp,
    async [Symbol.asyncDispose]() {
      await idp[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await agent[Symbol.asyncDispose]()
    },
  }
}

async function addConfiguration({ tenant, issuerId, issuingDID }: Setup, id: string, settings: object) {
  const schemaId = await publishSchema(tenant, issuingDID, { name: id.toLowerCase() })
  const body = { configurationId: id, format: 'dc+sd-jwt' as const, schemaId, ...settings }
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body,
  })
}

export async function useServer({ tenant, issuerId }: Setup, url: string): Promise<void> {
  const body = { authorizationServer: { url, ...issuerClient } }
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path: { issuerId }, body })
}

/** A time in the past. */
export const longAgo = '2026-01-01T00:00:00.000Z'

export const now = () => Math.floor(Date.now() / 1_000)

/** A valid token request for a new offer with a pre-authorized code. */
export async function preAuthorized(setup: Setup, options: OfferOptions = {}) {
  const { credentialOffer, ...made } = await offer(setup, options)
  return {
    ...made,
    form: { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) },
  }
}

/** The `issuer_state` of a new offer of the external server. */
export async function externalState(setup: Setup) {
  const { credentialOffer, recordId } = await offer(setup)
  const { grants } = await readOffer(credentialOffer)
  return { issuerState: grants.authorization_code.issuer_state as string, recordId }
}

/** A valid token request for a code that a person consented to. */
export async function authorizedForm(
  setup: Setup,
  changes: Form = {},
  dpop?: string,
  client: Record<string, string> = {},
) {
  const { txCode, verifier, parameters, recordId } = await offered(setup)
  const all = { ...parameters, ...changes }
  const { request_uri } = (await post(setup, 'par', all, dpop, client)).body
  const client_id = all['client_id']!
  const code = await consent(setup, { client_id, request_uri }, txCode)
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  }
  return { form, recordId }
}

/** An access token, by a pre-authorized code. */
export async function tokenOf(setup: Setup, options: OfferOptions = {}, client: Record<string, string> = {}) {
  const { form, recordId } = await preAuthorized(setup, options)
  const { body } = await post(setup, 'token', form, undefined, client)
  return { token: body.access_token as string, recordId }
}

/** The headers of an attested client of the strict issuer. */
export const client = ({ strict, provider }: Scene, parts: ClientParts = {}) =>
  attested(strict, provider, parts)

/** A token request of an attested client, for a new offer. */
export async function redeemAttested(
  scene: Scene,
  parts: ClientParts,
  form: Record<string, string> = { client_id: clientId },
) {
  const { form: valid } = await preAuthorized(scene.strict)
  return post(scene.strict, 'token', { ...valid, ...form }, undefined, client(scene, parts))
}

/** Sends a body to an endpoint that takes access tokens. */
export function send(
  { agent, issuerId }: Setup,
  endpoint: string,
  body: object,
  headers: Record<string, string>,
): Promise<Reply> {
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/${endpoint}`, { body, headers })
}

/** Requests the credential `Person` with a bearer token. `body` replaces members of a valid request. */
export async function take(setup: Setup, token: string, body: object = {}): Promise<Reply> {
  const proofs = 'proofs' in body ? {} : { proofs: { jwt: [await prove(setup)] } }
  const all = { credential_configuration_id: 'Person', ...proofs, ...body }
  return send(setup, 'credentials', all, { authorization: `Bearer ${token}` })
}

/** Requests the credential with a key proof. */
export async function takeWith(setup: Setup, proof: Parameters<typeof prove>[1]): Promise<Reply> {
  const { token } = await tokenOf(setup)
  return take(setup, token, { proofs: { jwt: [await prove(setup, proof)] } })
}

/** An access token that is bound to a key. */
export async function boundToken(setup: Setup) {
  const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
  const { form } = await preAuthorized(setup)
  const { body } = await post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
  return { token: body.access_token as string, key, nonce }
}

/**
 * Requests the credential with a token that is bound to a key, and a DPoP proof with other parts than a valid
 * one.
 */
export async function takeBound(setup: Setup, parts: ProofParts) {
  const { token: accessToken, key, nonce } = await boundToken(setup)
  const dpop = proofFor(setup, 'credentials', { accessToken, key, nonce, ...parts })
  return takeDpop(setup, accessToken, dpop)
}

export async function takeDpop(setup: Setup, token: string, dpop: string): Promise<Reply> {
  const body = { credential_configuration_id: 'Person', proofs: { jwt: [await prove(setup)] } }
  return send(setup, 'credentials', body, { authorization: `DPoP ${token}`, dpop })
}

/** Sets the end of an offer to the past. */
export function expire({ agent, setup }: Pick<Scene, 'agent' | 'setup'>, recordId: string): Promise<void> {
  return agent.agent.wallets.use(setup.tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const records = tx.selectFrom('record').select('data').where('id', '=', recordId)
      const data = JSON.parse((await records.executeTakeFirstOrThrow()).data)
      data.openid4vci.expiresTime = 1
      await tx
        .updateTable('record')
        .set({ data: JSON.stringify(data) })
        .where('id', '=', recordId)
        .execute()
    }),
  )
}

/** Sets the time at which a credential was fetched to the past, in seconds. */
export function fetchedAgo(
  { agent, tenant }: { agent: TestAgent; tenant: Tenant },
  recordId: string,
  seconds: number,
): Promise<void> {
  const updated_at = new Date(Date.now() - seconds * 1_000).toISOString()
  return agent.agent.wallets.use(tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      await tx.updateTable('record').set({ updated_at }).where('id', '=', recordId).execute()
    }),
  )
}

/** Changes the grant of an offer, and its tokens. */
export function changeGrant(
  { agent, setup }: Pick<Scene, 'agent' | 'setup'>,
  recordId: string,
  {
    tokensEnd,
    deferralEnds,
    authorized,
  }: { tokensEnd?: string; deferralEnds?: string; authorized?: (value: any) => object },
): Promise<void> {
  return agent.agent.wallets.use(setup.tenant.walletId, (wallet) =>
    wallet.transaction(async (tx) => {
      const records = tx.selectFrom('record').select('thid').where('id', '=', recordId)
      const { thid } = await records.executeTakeFirstOrThrow()
      const grants = tx.selectFrom('issuance_grant').select('authorized').where('id', '=', thid)
      const { authorized: stored } = await grants.executeTakeFirstOrThrow()
      if (authorized) {
        const change = { authorized: JSON.stringify(authorized(JSON.parse(stored!))) }
        await tx.updateTable('issuance_grant').set(change).where('id', '=', thid).execute()
      }
      const ends = {
        ...(tokensEnd !== undefined && { expires_at: tokensEnd }),
        ...(deferralEnds !== undefined && { deferred_until: deferralEnds }),
      }
      if (Object.keys(ends).length > 0)
        await tx.updateTable('issuance_token').set(ends).where('grant_id', '=', thid).execute()
    }),
  )
}

/** Reads or makes a sealed text of the wallet. */
export const withWallet = <T>(
  { agent, setup }: Scene,
  use: (wallet: {
    seal(context: string, text: string): string
    unseal(context: string, text: string): string
  }) => T,
): Promise<T> => agent.agent.wallets.use(setup.tenant.walletId, async (wallet) => use(wallet))
