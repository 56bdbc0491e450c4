/** A wallet of OpenID4VCI as tests need it: each step by itself, so that a test can change what it sends. */
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import {
  algorithmOf,
  generateKey,
  sign,
  toPublic,
  type PrivateJwk,
} from '../../../src/foundation/crypto/keys.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { newDid, publishSchema, type Tenant } from '../../support/tenants.ts'

export const preAuthorizedGrant = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

/** An issuer, as wallets know it. */
export type Issuer = { agent: Pick<TestAgent, 'url'>; issuerId: string; identifier: string }

/** An issuer of a tenant with the configuration `Person`. */
export type Setup = Issuer & { tenant: Tenant; issuingDID: string }

/** Whether bearer tokens of the issuer are good for longer at its deferred endpoint. */
export async function setBearerDeferral({ tenant, issuerId }: Setup, bearerDeferral: boolean): Promise<void> {
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path: { issuerId }, body: { bearerDeferral } })
}

/** A JSON schema with a required name is the schema of the configuration. */
export async function addIssuer<Agent extends Pick<TestAgent, 'url'>>(
  agent: Agent,
  tenant: Tenant,
): Promise<Setup & { agent: Agent }> {
  const { did: issuingDID } = await newDid(tenant, 'assertionMethod')
  const schemaId = await publishSchema(tenant, issuingDID, { required: ['name'] })
  const { id: issuerId } = await tenant.call('POST /oid4vci/issuers', { body: {} })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId: 'Person', format: 'jwt_vc_json', schemaId },
  })
  const identifier = `${agent.url}/oid4vci/issuers/${issuerId}`
  return { agent, tenant, issuerId, identifier, issuingDID }
}

export async function startIssuer(env: Record<string, string> = {}) {
  const agent = await startAgent(env)
  const setup = await addIssuer(agent, await agent.newTenant('issuer'))
  return { ...setup, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() }
}

export type OfferOptions = {
  grant?: 'pre-authorized_code' | 'authorization_code'
  txCode?: boolean | { length: number; description: string }
  automaticIssuance?: boolean
  byReference?: boolean
  expiresIn?: number
  validityPeriod?: number
  credentialConfigurationId?: string
  /** Undefined for a configuration with an issuer certificate. */
  issuingDID?: string | undefined
  claims?: Record<string, string | number>
}

/** Offers the credential `Person`, or another. */
export function offer({ tenant, issuerId, issuingDID }: Setup, options: OfferOptions = {}) {
  const body = { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' }, ...options }
  return tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', { path: { issuerId }, body })
}

/** The offer in the URL, or behind it. */
export async function readOffer(credentialOffer: string): Promise<any> {
  const { searchParams } = new URL(credentialOffer)
  const value = searchParams.get('credential_offer')
  if (value !== null) return JSON.parse(value)
  return (await ask({ url: '' }, `GET ${searchParams.get('credential_offer_uri')}`)).body
}

export async function codeOf(credentialOffer: string): Promise<string> {
  return (await readOffer(credentialOffer)).grants[preAuthorizedGrant]['pre-authorized_code']
}

/** Sends a form to the token endpoint. */
export function redeem({ agent, issuerId }: Issuer, form: Record<string, string> | string): Promise<Reply> {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString()
  const type = 'application/x-www-form-urlencoded'
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/token`, { body, type })
}

export async function redeemOffer(setup: Issuer, credentialOffer: string, txCode?: string): Promise<Reply> {
  const code = await codeOf(credentialOffer)
  return redeem(setup, {
    grant_type: preAuthorizedGrant,
    'pre-authorized_code': code,
    ...(txCode !== undefined && { tx_code: txCode }),
  })
}

export async function newNonce({ agent, issuerId }: Issuer): Promise<string> {
  return (await ask(agent, `POST /oid4vci/issuers/${issuerId}/nonce`)).body.c_nonce
}

type Proof = {
  key?: PrivateJwk
  signer?: PrivateJwk
  header?: object
  claims?: object
  signature?: Uint8Array
}

/** A key proof. Members of `header` and `claims` replace those of a valid one; undefined removes them. */
export async function prove(setup: Issuer, { key = generateKey('Ed25519'), ...given }: Proof = {}) {
  const { signer = key, header, claims, signature } = given
  const nonce = await newNonce(setup)
  const iat = Math.floor(Date.now() / 1_000)
  const all = { typ: 'openid4vci-proof+jwt', alg: algorithmOf(signer), jwk: toPublic(key), ...header }
  const payload = { aud: setup.identifier, iat, nonce, ...claims }
  const input = `${toBase64url(JSON.stringify(all))}.${toBase64url(JSON.stringify(payload))}`
  return `${input}.${toBase64url(signature ?? sign(signer, utf8(input)))}`
}

const neutral = Uint8Array.from([1, ...new Uint8Array(31)])

/**
 * A key proof that everybody can make: its key is the neutral element of Ed25519, for which one signature is
 * right for all texts.
 */
export const unkeyedProof: Proof = {
  header: { jwk: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(neutral) } },
  signature: Uint8Array.from([...neutral, ...new Uint8Array(32)]),
}

/** The status and the OAuth error code of a response. */
export function errorOf({ status, body }: Reply): unknown[] {
  return [status, body.error]
}

/** Requests the credential. `body` replaces the request of the final specification. */
export function request(
  { agent, issuerId }: Issuer,
  { token, jwt, body }: { token: string | undefined; jwt?: string; body?: unknown },
): Promise<Reply> {
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/credentials`, {
    body: body ?? { credential_configuration_id: 'Person', proofs: { jwt: [jwt] } },
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  })
}

/** Requests the credential of a transaction. */
export function fetchDeferred({ agent, issuerId }: Issuer, token: string, id: string): Promise<Reply> {
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/deferred-credentials`, {
    body: { transaction_id: id },
    headers: { authorization: `Bearer ${token}` },
  })
}

/** An offer whose code is redeemed. */
export async function redeemed(setup: Setup, options: OfferOptions = {}) {
  const made = await offer(setup, options)
  const { status, body } = await redeemOffer(setup, made.credentialOffer, made.txCode)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { ...made, token: body.access_token as string, expiresIn: body.expires_in as number }
}

export function recordOf({ tenant }: Setup, recordId: string) {
  return tenant.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
}
