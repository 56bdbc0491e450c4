/** A wallet that redeems offers with the pre-authorized code grant, of the agent and of the bare issuer. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Pool } from 'undici'
import { formOf, jsonOf, post, signJwt } from './_http.ts'

export const grantType = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

/** An issuer: its identifier, its configuration, and how it offers a credential. Requests go over `pool`. */
export type Issuer = { identifier: string; configurationId: string; pool: Pool; offer: () => Promise<string> }

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) }
}
type Key = { privateKey: KeyObject; jwk: object }

/** The keys of wallets, each used in turn. */
const keys: Key[] = Array.from({ length: 100 }, newKey)
let turn = 0

export const takeKey = () => keys[turn++ % keys.length]!

export function prove({ privateKey, jwk }: Key, aud: string, nonce: string): string {
  const header = { typ: 'openid4vci-proof+jwt', jwk }
  return signJwt(privateKey, header, { aud, iat: Math.floor(Date.now() / 1_000), nonce })
}

/** One issuance: offer, token, nonce and credential. @throws if there is no credential at the end */
export async function issue({ identifier, configurationId, pool, offer }: Issuer): Promise<void> {
  const path = new URL(identifier).pathname
  const form = formOf({ grant_type: grantType, 'pre-authorized_code': await offer() })
  const { access_token: token } = await post(pool, `${path}/token`, form)
  const { c_nonce: nonce } = await post(pool, `${path}/nonce`)
  const proof = prove(takeKey(), identifier, nonce as string)
  const request = { credential_configuration_id: configurationId, proofs: { jwt: [proof] } }
  const headers = { authorization: `Bearer ${token as string}` }
  const { credentials } = await post(pool, `${path}/credentials`, jsonOf(request, headers))
  if (typeof credentials?.[0]?.credential !== 'string') throw new Error('the response has no credential')
}

/** The pre-authorized code in the URL of an offer. */
export function codeOf(credentialOffer: string): string {
  const { grants } = JSON.parse(new URL(credentialOffer).searchParams.get('credential_offer')!)
  return grants[grantType]['pre-authorized_code'] as string
}
