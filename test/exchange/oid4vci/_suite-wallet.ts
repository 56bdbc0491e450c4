/**
 * The wallet of the OpenID Foundation's conformance suite for credential issuers (package `vci10issuer`,
 * commit of 2026-08), by the variants of its plan `oid4vci-1_0-issuer-test-plan`. How a credential is issued
 * is no variant there: its wallet asks the deferred endpoint if the answer is 202.
 */
import { expect } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { publishSchema } from '../../support/tenants.ts'
import { openSource } from './_claims-source.ts'
import { consent, newPkce, offered, redirectUri, type Parameters } from './_authorization.ts'
import { decryptResponse, encryptRequest, newResponseKey, type ResponseKey } from './_encryption.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { faults } from './_schemas.ts'
import { codeOf, offer, preAuthorizedGrant, prove, readOffer, type Setup } from './_wallet.ts'

export type Variant = {
  flow: 'issuer_initiated' | 'wallet_initiated'
  grant: 'authorization_code' | 'pre_authorization_code'
  encryption: 'plain' | 'encrypted'
  mode: 'immediate' | 'deferred'
}

export const nameOf = ({ flow, grant, encryption, mode }: Variant) =>
  [flow, grant, encryption, mode].join(', ')

export type Granted = { accessToken: string; key: PrivateJwk; nonce: string; configuration: string }

/** Members that issuers have to ignore (§5.1.3, §6.1, §8.2, §11.1), as the suite sprinkles them. */
const unknown = { q8dk2: 'unknown' }

/**
 * An issuer with configurations for each variant: `Licence` and `Person` by offers, and those with `Open`
 * without. `Late` is deferred. Without an offer, each credential has the same claims.
 */
export async function prepare({ tenant, issuerId, issuingDID }: Setup) {
  const source = await openSource({ status: 202, body: { retryAfter: 3_600 } })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path: { issuerId } })
  const schemaId = await publishSchema(tenant, issuingDID, { name: 'licence', required: ['name'] })
  const add = (configurationId: string, format: 'dc+sd-jwt' | 'jwt_vc_json', more: object = {}) =>
    tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId },
      body: { configurationId, format, schemaId, issuingDID, ...more },
    })
  await add('Licence', 'dc+sd-jwt')
  const open = { begin: 'open', claims: [{ path: ['name'], value: 'Alice' }] }
  const late = { begin: 'open', claimsSource: { url: source.url } }
  for (const [id, format] of [
    ['Licence', 'dc+sd-jwt'],
    ['Person', 'jwt_vc_json'],
  ] as const) {
    await add(`Open${id}`, format, open)
    await add(`OpenLate${id}`, format, late)
  }
  return source
}

export function suiteWallet(setup: Setup, variant: Variant) {
  const { flow, grant, encryption, mode } = variant
  const { agent, issuerId, tenant } = setup
  const isOpen = flow === 'wallet_initiated'
  const isLate = mode === 'deferred'
  /** What the suite is told to request, for a credential of the format of `Licence` or `Person`. */
  const idOf = (configuration: string) =>
    isOpen ? `Open${isLate ? 'Late' : ''}${configuration}` : configuration

  /** The parameters of an authorization request of an issuer. */
  async function parametersFor(of: Setup, configuration: string, client_id: string) {
    if (!isOpen) {
      const options = { credentialConfigurationId: configuration, automaticIssuance: !isLate }
      const made = await offered(of, options)
      const { parameters } = made
      return { ...made, parameters: { ...parameters, ...unknown, client_id, scope: configuration } }
    }
    const { verifier, challenge } = newPkce()
    const parameters: Parameters = {
      response_type: 'code',
      client_id,
      redirect_uri: redirectUri,
      state: 'a state',
      scope: configuration,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...unknown,
    }
    return { verifier, parameters, txCode: undefined }
  }

  /** The form of a token request for a new offer with a pre-authorized code. */
  async function preAuthorizedForm(of: Setup, configuration: string) {
    const options = { credentialConfigurationId: configuration, automaticIssuance: !isLate, txCode: true }
    const { credentialOffer, txCode } = await offer(of, options)
    expect(faults('credential_offer-1_0', await readOffer(credentialOffer))).toEqual([])
    const code = await codeOf(credentialOffer)
    return { grant_type: preAuthorizedGrant, 'pre-authorized_code': code, tx_code: txCode!, ...unknown }
  }

  /** A client with an access token. */
  async function authorize(credential = 'Licence', client_id = 'wallet'): Promise<Granted> {
    const configuration = idOf(credential)
    const key = generateKey('P-256')
    const nonce = await newDpopNonce(setup)
    const dpop = (endpoint: string) => proofFor(setup, endpoint, { key, nonce })
    const codeForm = async () => {
      const { txCode, verifier, parameters } = await parametersFor(setup, configuration, client_id)
      const pushed = await post(setup, 'par', parameters, dpop('par'))
      expect(pushed.status, JSON.stringify(pushed.body)).toBe(201)
      const { request_uri } = pushed.body
      const code = await consent(setup, { client_id, request_uri }, txCode)
      const form = { grant_type: 'authorization_code', code, client_id, redirect_uri: redirectUri }
      return { ...form, code_verifier: verifier, ...unknown }
    }
    const isCode = grant === 'authorization_code'
    const form = isCode ? await codeForm() : await preAuthorizedForm(setup, configuration)
    const { status, body } = await post(setup, 'token', form, dpop('token'))
    expect([status, body.token_type], JSON.stringify(body)).toEqual([200, 'DPoP'])
    return { accessToken: body.access_token, key, nonce, configuration }
  }

  type Sent = { headers?: Record<string, string>; isEncrypted?: boolean; zip?: string }

  /** Sends a request, encrypted if the variant is. The reply is decrypted if it is encrypted. */
  async function send(
    { accessToken, ...parts }: Granted,
    endpoint: 'credentials' | 'notifications' | 'deferred-credentials',
    body: object,
    { headers = {}, isEncrypted = false, zip }: Sent = {},
  ): Promise<Reply> {
    const dpop = proofFor(setup, endpoint, { accessToken, ...parts })
    const target = `POST /oid4vci/issuers/${issuerId}/${endpoint}`
    const all = { authorization: `DPoP ${accessToken}`, dpop, ...headers }
    if (!isEncrypted) return ask(agent, target, { body, headers: all })
    const own = newResponseKey()
    const parameters = zip === undefined ? own.parameters : { ...own.parameters, zip }
    const members = { credential_response_encryption: parameters, ...body }
    const jwe = await encryptRequest(setup, members, zip === undefined ? {} : { zip })
    const reply = await ask(agent, target, { body: jwe, headers: all, type: 'application/jwt' })
    return readReply(reply, own)
  }

  /** Error responses are never encrypted (§8.3.1.2). */
  async function readReply(reply: Reply, key: ResponseKey): Promise<Reply> {
    const isEncrypted = (reply.headers.get('content-type') ?? '').startsWith('application/jwt')
    expect(isEncrypted).toBe(reply.status < 300)
    return isEncrypted ? { ...reply, body: (await decryptResponse(reply.body, key)).body } : reply
  }

  /**
   * Requests the credential with these proofs. `changes` replace members of the request; undefined removes
   * them. A deferred credential is approved and fetched.
   */
  async function take(
    granted: Granted,
    jwt: string[],
    changes: object = {},
    sent: Sent = {},
  ): Promise<Reply> {
    const body = { credential_configuration_id: granted.configuration, proofs: { jwt }, ...changes }
    const isEncrypted = encryption === 'encrypted'
    expect(faults('credential_request-1_0', JSON.parse(JSON.stringify(body)))).toEqual([])
    const reply = await send(granted, 'credentials', { ...body, ...unknown }, { isEncrypted, ...sent })
    if (reply.status !== 202) return reply
    const { transaction_id, interval } = reply.body
    expect([typeof transaction_id, typeof interval]).toEqual(['string', 'number'])
    await tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', {
      path: { recordId: transaction_id },
      ...(isOpen && { body: { claims: { name: 'Alice' } } }),
    })
    return send(granted, 'deferred-credentials', { transaction_id }, { isEncrypted })
  }

  /** One client takes one credential. */
  async function happyFlow(credential = 'Licence', client?: string) {
    const granted = await authorize(credential, client)
    const holder = generateKey('P-256')
    const reply = await take(granted, [await prove(setup, { key: holder })])
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const { credential: text } = reply.body.credentials[0]
    const decoded = credential === 'Licence' ? decodeSdJwt(text) : decodeJwtVc(text)
    expect(decoded).toMatchObject({ claims: { name: 'Alice' }, issuerDid: setup.issuingDID })
    return { granted, holder, reply }
  }

  const notify = (granted: Granted, notification_id: string) =>
    send(granted, 'notifications', { notification_id, event: 'credential_accepted', ...unknown })

  return { variant, setup, authorize, take, happyFlow, notify, parametersFor, preAuthorizedForm, idOf }
}

export type SuiteWallet = ReturnType<typeof suiteWallet>
