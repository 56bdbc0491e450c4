/** A wallet provider, and the attestations of its wallets, as tests need them: each part can be changed. */
import { randomUUID } from 'node:crypto'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import {
  algorithmOf,
  generateKey,
  sign,
  toPublic,
  type PrivateJwk,
} from '../../../src/foundation/crypto/keys.ts'
import { authority, make, pemOf, x5cOf } from '../../foundation/x509/_chains.ts'
import type { Issuer, Setup } from './_wallet.ts'

/** A wallet provider that signs with a certificate of an authority, `root`, in PEM. */
export type Provider = { key: PrivateJwk; x5c: string[]; root: string }

export const clientId = 'https://wallet.example'

export async function newProvider(): Promise<Provider> {
  const root = await authority('CN=Wallet providers')
  const leaf = await make('CN=Wallet provider', root)
  const { crv, kty, x, y, d } = (await crypto.subtle.exportKey('jwk', leaf.keys.privateKey)) as PrivateJwk
  return { key: { kty, crv, x, y: y!, d }, x5c: x5cOf(leaf), root: pemOf(root) }
}

/** Signs a JWT. Members that are undefined are left out. */
export function signJwt(key: PrivateJwk, header: object, payload: object): string {
  const all = { alg: algorithmOf(key), ...header }
  const input = `${toBase64url(JSON.stringify(all))}.${toBase64url(JSON.stringify(payload))}`
  return `${input}.${toBase64url(sign(key, utf8(input)))}`
}

type Parts = { header?: object; claims?: object }

export type ClientParts = {
  /** The attested key. */
  key?: PrivateJwk
  /** Makes the signature of the proof instead of `key`. */
  prover?: PrivateJwk
  /** Makes the signature of the attestation instead of the provider. */
  signer?: PrivateJwk
  attestation?: Parts
  proof?: Parts
}

const now = () => Math.floor(Date.now() / 1_000)

/**
 * The headers of an attested client. Members of headers and claims replace those of valid tokens; undefined
 * removes them.
 */
export function attested(
  { identifier }: Issuer,
  provider: Provider,
  { key = generateKey('P-256'), prover = key, signer = provider.key, attestation, proof }: ClientParts = {},
): Record<string, string> {
  const header = { typ: 'oauth-client-attestation+jwt', x5c: provider.x5c, ...attestation?.header }
  const claims = { iss: 'https://provider.example', sub: clientId, iat: now(), exp: now() + 300 }
  const payload = { ...claims, cnf: { jwk: toPublic(key) }, ...attestation?.claims }
  const proofHeader = { typ: 'oauth-client-attestation-pop+jwt', ...proof?.header }
  const proofClaims = { iss: clientId, aud: identifier, jti: randomUUID(), iat: now(), ...proof?.claims }
  return {
    'oauth-client-attestation': signJwt(signer, header, payload),
    'oauth-client-attestation-pop': signJwt(prover, proofHeader, proofClaims),
  }
}

/** Has an issuer trust a wallet provider by its authority. */
export async function trust(
  { tenant, issuerId }: Setup,
  { root }: Provider,
  walletAttestation: 'optional' | 'required' = 'required',
): Promise<void> {
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}', {
    path: { issuerId },
    body: { walletProviders: { certificates: root }, walletAttestation },
  })
}

/** An attestation of keys, for the header of a key proof or as the proof. */
export function attestKeys(
  provider: Provider,
  keys: readonly PrivateJwk[],
  nonce: string,
  { signer = provider.key, header, claims }: Parts & { signer?: PrivateJwk } = {},
): string {
  const all = { typ: 'key-attestation+jwt', x5c: provider.x5c, ...header }
  const times = { iat: now(), exp: now() + 300 }
  return signJwt(signer, all, { ...times, attested_keys: keys.map(toPublic), nonce, ...claims })
}
