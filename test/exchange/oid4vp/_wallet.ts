/**
 * A verifier's tenant, an issuer, and a wallet of OpenID4VP as tests need it: each step by itself, so that a
 * test can change what it sends.
 */
import { createHash, randomBytes } from 'node:crypto'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { expect } from 'vitest'
import { fromUtf8, fromBase64, toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import {
  algorithmOf,
  generateKey,
  sign,
  toPublic,
  type PrivateJwk,
} from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { startAgent, type TestAgent, type TestOptions } from '../../support/agent.ts'
import { ask, type Reply } from '../../support/ask.ts'
import type { Tenant } from '../../support/tenants.ts'

export const vct = 'https://credentials.example/person'

/** The credential `person` with the claim `name`. */
export const personQuery = {
  credentials: [
    { id: 'person', format: 'dc+sd-jwt', meta: { vct_values: [vct] }, claims: [{ path: ['name'] }] },
  ],
}

export type Verifier = { agent: TestAgent; tenant: Tenant } & AsyncDisposable

export async function startVerifier(
  env: Record<string, string> = {},
  options: TestOptions = {},
): Promise<Verifier> {
  const agent = await startAgent({ OID4VP_REQUESTS_PER_MINUTE: '100000', ...env }, options)
  const tenant = await agent.newTenant('verifier')
  return { agent, tenant, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() }
}

/** A DID of the tenant with an authentication key, which is its own document. */
export async function newVerifierDid({ tenant }: Pick<Verifier, 'tenant'>): Promise<string> {
  const { longFormDid } = await tenant.call('POST /did-registrar/dids', {
    body: { method: 'jwk', documentTemplate: { publicKeys: [], services: [] } },
  })
  return longFormDid
}

export type RequestOptions = {
  did?: string
  certificateId?: string
  clientIdPrefix?: 'redirect_uri' | 'decentralized_identifier' | 'x509_san_dns' | 'x509_hash'
  dcqlQuery?: any
  responseMode?: 'direct_post' | 'direct_post.jwt' | 'dc_api' | 'dc_api.jwt'
  origins?: string[]
  directPost?: boolean
  policyId?: string
  issuers?: 'any' | 'trusted' | string[]
  sameHolder?: boolean | undefined
  transactionData?: any[]
  verifierInfo?: any[]
  redirectUri?: string
  expiresIn?: number
}

/** Requests the credential `person` of any issuer, or others. */
export function requestProof({ tenant }: Pick<Verifier, 'tenant'>, options: RequestOptions = {}) {
  const body = { dcqlQuery: personQuery, issuers: 'any' as const, ...options }
  return tenant.call('POST /present-proof/presentations/openid4vp', { body })
}

export async function presentationOf({ tenant }: Pick<Verifier, 'tenant'>, presentationId: string) {
  return tenant.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } })
}

/** The parameters of an authorization request. Signed requests are retrieved, and not verified. */
export async function readRequest(authorizationRequest: string): Promise<any> {
  const { searchParams } = new URL(authorizationRequest)
  const uri = searchParams.get('request_uri')
  if (uri !== null) return decodeJwt(await (await fetch(uri)).text()).payload
  const texts = Object.fromEntries(searchParams)
  const objects = ['dcql_query', 'client_metadata', 'transaction_data'].filter((name) => name in texts)
  const parsed = objects.map((name) => [name, JSON.parse(texts[name]!)])
  return { ...texts, ...Object.fromEntries(parsed) }
}

export function decodeJwt(jwt: string): { header: any; payload: any } {
  const [header, payload] = jwt
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(fromUtf8(fromBase64(part))))
  return { header, payload }
}

/** Sends a form to the `response_uri`. */
export function respond({ response_uri: uri }: any, form: Record<string, string>): Promise<Reply> {
  const body = new URLSearchParams(form).toString()
  return ask({ url: '' }, `POST ${uri}`, { body, type: 'application/x-www-form-urlencoded' })
}

/** Sends presentations. */
export function present(request: any, presentations: Record<string, string[]>): Promise<Reply> {
  return respond(request, { vp_token: JSON.stringify(presentations), state: request.state })
}

const hasher = (data: string | ArrayBuffer, algorithm: string) =>
  createHash(algorithm.replace('-', '').toLowerCase())
    .update(typeof data === 'string' ? data : Buffer.from(data))
    .digest()

const signer = (key: PrivateJwk) => (data: string) => toBase64url(sign(key, utf8(data)))

/** The issuer of tests, and the holder's key. */
export const issuerKey = generateKey('P-256')
export const issuerDid = createJwkDid(toPublic(issuerKey))
export const holderKey = generateKey('P-256')

export type Issued = {
  claims?: object
  payload?: object
  /** What is selectively disclosable beside `claims`. */
  frame?: object
  key?: PrivateJwk
  holder?: PrivateJwk | null
}

/** Issues an SD-JWT VC by the library of others. Members of `payload` replace those of the credential. */
export async function issueSdJwt(issued: Issued = {}) {
  const { claims, payload, frame, key = issuerKey, holder = holderKey } = issued
  const peer = new SDJwtVcInstance({
    signer: signer(key),
    signAlg: algorithmOf(key),
    hasher,
    hashAlg: 'sha-256',
    saltGenerator: (length) => randomBytes(length).toString('base64url'),
  })
  const disclosed = { name: 'Alice', age: 30, ...claims }
  const content = {
    iss: issuerDid,
    iat: Math.floor(Date.now() / 1_000),
    vct,
    ...(holder && { cnf: { jwk: toPublic(holder) } }),
    ...disclosed,
    ...payload,
  }
  return peer.issue(content, { ...frame, _sd: Object.keys(disclosed) } as object)
}

/** The same token with another `typ`, or none. */
export function retype(jwt: string, typ: string | undefined, key: PrivateJwk): string {
  return signJwt({ ...(typ !== undefined && { typ }) }, decodeJwt(jwt).payload, key)
}

/** The same credential with another `typ`, or none. */
export function retypeCredential(credential: string, typ?: string): string {
  const [jwt, ...rest] = credential.split('~')
  return [retype(jwt!, typ, issuerKey), ...rest].join('~')
}

export type Presented = {
  /** What is issued, if no credential is given. */
  issued?: Issued
  credential?: string
  /** Their names, or a frame of the library. */
  claims?: string[] | object
  key?: PrivateJwk
  binding?: object
  isBound?: boolean
}

/**
 * Presents claims of an SD-JWT VC with a key binding, by the library of others. Members of `binding` replace
 * those of the key binding.
 */
export async function presentSdJwt(request: any, presented: Presented = {}): Promise<string> {
  const {
    issued,
    credential = await issueSdJwt(issued),
    claims = ['name'],
    key = holderKey,
    binding,
    isBound = true,
  } = presented
  const peer = new SDJwtVcInstance({
    hasher,
    kbSigner: signer(key),
    kbSignAlg: algorithmOf(key),
    hashAlg: 'sha-256',
  })
  const frame = Array.isArray(claims) ? Object.fromEntries(claims.map((name) => [name, true])) : claims
  const iat = Math.floor(Date.now() / 1_000)
  const payload = { iat, aud: request.client_id, nonce: request.nonce, ...binding }
  const vp = await peer.present(credential, frame, isBound ? { kb: { payload } } : undefined)
  // The library replaces the digest.
  if (!binding || !('sd_hash' in binding)) return vp
  return vp.slice(0, vp.lastIndexOf('~') + 1) + signJwt({ typ: 'kb+jwt' }, payload, key)
}

/** A compact JWT. */
export function signJwt(header: object, payload: object, key: PrivateJwk): string {
  const encoded = [{ alg: algorithmOf(key), ...header }, payload].map((part) =>
    toBase64url(JSON.stringify(part)),
  )
  const input = encoded.join('.')
  return `${input}.${toBase64url(sign(key, utf8(input)))}`
}

/** The failed check of a presentation. */
export async function failureOf(verifier: Pick<Verifier, 'tenant'>, presentationId: string) {
  const { status, openid4vp } = await presentationOf(verifier, presentationId)
  expect(status).toBe('PresentationVerificationFailed')
  return openid4vp!.checks!.filter(({ result }) => result === 'failed')
}
