/** Refresh tokens of the issuer of the tests: rotated at each use, and of single use. */
import { createHash } from 'node:crypto'
import type { PublicJwk } from '../../../../src/foundation/crypto/keys.ts'
import { decodeHeader } from '../../../../src/credentials/codecs/jws.ts'
import { until, type Tenant } from '../../../support/tenants.ts'
import { show, type Record } from './_holder.ts'
import { keysIn, type Changes, type FakeIssuer, type Seen } from './_issuer.ts'

export type Refreshing = {
  /** Whether tokens are bound to the key of the wallet's DPoP proof. */
  isBound?: boolean
  /** The seconds of a credential until its end. */
  seconds?: number
  /** Changes of the credential that the nth token request leads to, from 0. */
  changes?: (renewals: number) => Changes
  batchSize?: number
}

/** Makes the issuer give refresh tokens. Returns what it has seen of them. */
export function givesRefreshTokens(
  issuer: FakeIssuer,
  { isBound = true, seconds = 3_600, changes = () => ({}), batchSize = 20 }: Refreshing = {},
) {
  const state = { current: 0, isRevoked: false, keys: [] as (string | undefined)[], reused: 0 }
  const token = (n: number) => ({
    access_token: `access-${n}`,
    refresh_token: `refresh-${n}`,
    token_type: isBound ? 'DPoP' : 'Bearer',
    expires_in: 600,
  })
  if (isBound) {
    const body = { ...issuer.authorization, dpop_signing_alg_values_supported: ['ES256'] }
    issuer.on('oauth-authorization-server', () => ({ body }))
  }
  issuer.on('openid-credential-issuer', () => ({
    body: { ...issuer.metadata, batch_credential_issuance: { batch_size: batchSize } },
  }))
  issuer.on('token', (seen) => {
    const form = new URLSearchParams(seen.body)
    const key = keyOf(seen)
    state.keys.push(key)
    if (form.get('grant_type') !== 'refresh_token') return { body: token(state.current) }
    const isRight = form.get('refresh_token') === `refresh-${state.current}` && key === state.keys[0]
    // RFC 9700 §4.14.2: a used token revokes the grant.
    if (!isRight) Object.assign(state, { isRevoked: true, reused: state.reused + 1 })
    if (state.isRevoked) return { status: 400, body: { error: 'invalid_grant' } }
    state.current++
    return { body: token(state.current) }
  })
  issuer.on('credential', ({ body, headers }) => {
    const scheme = isBound ? 'DPoP' : 'Bearer'
    if (headers.authorization !== `${scheme} access-${state.current}`)
      return { status: 401, headers: { 'www-authenticate': `${scheme} error="invalid_token"` }, body: {} }
    const now = Math.floor(Date.now() / 1_000)
    const keys = keysIn(JSON.parse(body))
    const make = (holderKey: PublicJwk) =>
      issuer.issue(body, { holderKey, issuedAt: now, expiresAt: now + seconds, ...changes(state.current) })
    const credentials = keys.map((key) => ({ credential: make(key) }))
    return { body: { credentials, notification_id: `n-${state.current}` } }
  })
  return state
}

/** The thumbprint-like digest of the key of a DPoP proof. */
function keyOf({ headers }: Seen): string | undefined {
  const proof = headers['dpop']
  if (typeof proof !== 'string') return undefined
  return createHash('sha256')
    .update(JSON.stringify(decodeHeader(proof)['jwk']))
    .digest('hex')
}

export function refresh({ call }: Pick<Tenant, 'call'>, recordId: string, copies?: number) {
  const route = 'POST /issue-credentials/records/{recordId}/refresh'
  return call(route, { path: { recordId }, body: { copies } })
}

export const renewalOf = ({ openid4vci }: Record) => openid4vci!.renewal!

/** Waits until a renewal is over, at least `count` of them. */
export function renewed(holder: Pick<Tenant, 'call'>, recordId: string, count = 1): Promise<Record> {
  return until(
    `${count} renewals`,
    () => show(holder, recordId),
    (record) => {
      const { state, reason, count: done = 0 } = renewalOf(record)
      return done >= count || (state !== 'running' && reason !== undefined)
    },
  )
}
