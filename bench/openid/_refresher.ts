/** Wallets that renew a credential: with a refresh token and access tokens that are bound to a key by DPoP. */
import { createHash, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { grantType, type Issuer, prove, takeKey } from './_holder.ts'
import { formOf, jsonOf, post, send, signJwt } from './_http.ts'

/** An issuer refuses more refreshes of one grant in a day. */
const mostRefreshes = 20

/** Shorter than the time for which a nonce of the issuer is valid. */
const nonceMs = 120_000

type Wallet = { key: KeyObject; jwk: object; refreshToken: string; left: number }

export function createRefresher(issuer: Issuer) {
  const { identifier, configurationId, pool, offer } = issuer
  const path = new URL(identifier).pathname
  const idle: Wallet[] = []
  let known = { nonce: '', atMs: -Infinity }

  /** The nonce of DPoP proofs, which the issuer gives with its refusal of a proof without one. */
  async function dpopNonce(): Promise<string> {
    if (performance.now() - known.atMs < nonceMs) return known.nonce
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicKey.export({ format: 'jwk' })
    const { headers, body } = formOf({ grant_type: 'refresh_token', refresh_token: 'unknown' })
    const dpop = proofOf({ key: privateKey, jwk }, 'token', {})
    const response = await pool.request({
      method: 'POST',
      path: `${path}/token`,
      headers: { ...headers, dpop },
      body,
    })
    await response.body.dump()
    known = { nonce: String(response.headers['dpop-nonce']), atMs: performance.now() }
    return known.nonce
  }

  function proofOf({ key, jwk }: Pick<Wallet, 'key' | 'jwk'>, endpoint: string, more: object): string {
    const about = { htm: 'POST', htu: `${identifier}/${endpoint}`, iat: Math.floor(Date.now() / 1_000) }
    return signJwt(key, { typ: 'dpop+jwt', jwk }, { jti: randomUUID(), ...about, ...more })
  }

  /** A token request. Returns the access token, and keeps the refresh token. */
  async function request(wallet: Wallet, form: Record<string, string>): Promise<string> {
    const dpop = proofOf(wallet, 'token', { nonce: await dpopNonce() })
    const { headers, body } = formOf(form)
    const tokens = await post(pool, `${path}/token`, { headers: { ...headers, dpop }, body })
    wallet.refreshToken = tokens['refresh_token'] as string
    return tokens['access_token'] as string
  }

  async function take(wallet: Wallet, token: string): Promise<void> {
    const { c_nonce: nonce } = await post(pool, `${path}/nonce`)
    const proof = prove(takeKey(), identifier, nonce as string)
    const ath = createHash('sha256').update(token).digest('base64url')
    const dpop = proofOf(wallet, 'credentials', { nonce: await dpopNonce(), ath })
    const body = { credential_configuration_id: configurationId, proofs: { jwt: [proof] } }
    const headers = { authorization: `DPoP ${token}`, dpop }
    await send(pool, { method: 'POST', path: `${path}/credentials`, ...jsonOf(body, headers) })
  }

  return {
    /** Makes wallets with the credential, for so many renewals. */
    async prepare(renewals: number): Promise<void> {
      while (idle.reduce((sum, { left }) => sum + left, 0) < renewals) {
        const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
        const jwk = publicKey.export({ format: 'jwk' })
        const wallet: Wallet = { key, jwk, refreshToken: '', left: mostRefreshes }
        const form = { grant_type: grantType, 'pre-authorized_code': await offer() }
        await take(wallet, await request(wallet, form))
        idle.push(wallet)
      }
    },
    /** One renewal: refresh, nonce, credential. @throws if the issuer refuses, or no prepared wallet is left */
    async once(): Promise<void> {
      const wallet = idle.shift()
      if (!wallet) throw new Error('no wallet is left')
      const form = { grant_type: 'refresh_token', refresh_token: wallet.refreshToken }
      await take(wallet, await request(wallet, form))
      if (--wallet.left > 0) idle.push(wallet)
    },
  }
}
