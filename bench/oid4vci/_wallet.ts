/** A wallet that redeems offers with the pre-authorized code grant, of the agent and of the bare issuer. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { Pool } from 'undici'

const grantType = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

/** The time limit of a request, in milliseconds. */
const patienceMs = 30_000

/** An issuer: its identifier, its configuration, and how it offers a credential. Requests go over `pool`. */
export type Issuer = { identifier: string; configurationId: string; pool: Pool; offer: () => Promise<string> }

export const openPool = (url: string) =>
  new Pool(new URL(url).origin, { connections: 64, headersTimeout: patienceMs, bodyTimeout: patienceMs })

export type Request = { headers: Record<string, string>; body: string }

export const jsonOf = (body: object, headers: Record<string, string> = {}): Request => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** Posts, and parses the response. @throws if the status is not 2xx */
export async function post(pool: Pool, path: string, request?: Request): Promise<Record<string, any>> {
  const response = await pool.request({ method: 'POST', path, ...request })
  const text = await response.body.text()
  if (response.statusCode >= 300) throw new Error(`${path} was answered ${response.statusCode}: ${text}`)
  return JSON.parse(text) as Record<string, any>
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) }
}
type Key = { privateKey: KeyObject; jwk: object }

/** The keys of wallets, each used in turn. */
const keys: Key[] = Array.from({ length: 100 }, newKey)
let turn = 0

function prove({ privateKey, jwk }: Key, aud: string, nonce: string): string {
  const header = { typ: 'openid4vci-proof+jwt', alg: 'EdDSA', jwk }
  const input = `${encode(header)}.${encode({ aud, iat: Math.floor(Date.now() / 1_000), nonce })}`
  return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`
}

/** One issuance: offer, token, nonce and credential. @throws if there is no credential at the end */
export async function issue({ identifier, configurationId, pool, offer }: Issuer): Promise<void> {
  const path = new URL(identifier).pathname
  const form = new URLSearchParams({ grant_type: grantType, 'pre-authorized_code': await offer() })
  const { access_token: token } = await post(pool, `${path}/token`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
  const { c_nonce: nonce } = await post(pool, `${path}/nonce`)
  const proof = prove(keys[turn++ % keys.length]!, identifier, nonce as string)
  const request = { credential_configuration_id: configurationId, proofs: { jwt: [proof] } }
  const { credentials } = await post(
    pool,
    `${path}/credentials`,
    jsonOf(request, { authorization: `Bearer ${token as string}` }),
  )
  if (typeof credentials?.[0]?.credential !== 'string') throw new Error('the response has no credential')
}

/** The pre-authorized code in the URL of an offer. */
export function codeOf(credentialOffer: string): string {
  const { grants } = JSON.parse(new URL(credentialOffer).searchParams.get('credential_offer')!)
  return grants[grantType]['pre-authorized_code'] as string
}
