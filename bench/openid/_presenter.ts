/**
 * A wallet that answers OpenID4VP requests, of the agent and of the bare verifier. Its credentials are of an
 * issuer with a fixed key.
 */
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import type { Pool } from 'undici'
import { createJwkDid } from '../../src/did/jwk.ts'
import { decode, formOf, post, send, signJwt } from './_http.ts'

/** The public key of the issuer, of RFC 7515 A.3. */
export const issuerJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
} as const
const issuerKey = createPrivateKey({
  key: { ...issuerJwk, d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI' },
  format: 'jwk',
})
const iss = createJwkDid(issuerJwk)
const vct = 'https://credentials.example/person'

export const dcqlQuery = {
  credentials: [
    { id: 'person', format: 'dc+sd-jwt', meta: { vct_values: [vct] }, claims: [{ path: ['name'] }] },
  ],
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

type Held = { key: KeyObject; credential: string; disclosure: string }

/** A credential with the claims `name` and `age`, which are disclosed separately. */
function newCredential(): Held {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const disclose = (name: string, value: unknown) =>
    Buffer.from(JSON.stringify([randomBytes(16).toString('base64url'), name, value])).toString('base64url')
  const [name, age] = [disclose('name', 'Rossi'), disclose('age', 42)]
  const cnf = { jwk: publicKey.export({ format: 'jwk' }) }
  const payload = { iss, iat: Math.floor(Date.now() / 1_000), vct, cnf, _sd_alg: 'sha-256' }
  const credential = signJwt(issuerKey, { typ: 'dc+sd-jwt' }, { ...payload, _sd: [hash(name), hash(age)] })
  return { key: privateKey, credential, disclosure: name }
}

/** The credentials of wallets, each presented in turn. */
const held = Array.from({ length: 100 }, newCredential)
let turn = 0

/** A verifier, and how it creates an authorization request. */
export type Verifier = { pool: Pool; request: () => Promise<string> }

/** One presentation: request, request object, response. @throws if the verifier refuses it */
export async function present({ pool, request }: Verifier): Promise<void> {
  const uri = new URL(new URL(await request()).searchParams.get('request_uri')!)
  const object = await send(pool, { method: 'GET', path: uri.pathname })
  const { client_id: aud, nonce, state, response_uri: responseUri } = decode(object.split('.')[1]!)
  const { key, credential, disclosure } = held[turn++ % held.length]!
  const disclosed = `${credential}~${disclosure}~`
  const binding = { iat: Math.floor(Date.now() / 1_000), aud, nonce, sd_hash: hash(disclosed) }
  const presentation = disclosed + signJwt(key, { typ: 'kb+jwt' }, binding)
  const form = formOf({ vp_token: JSON.stringify({ person: [presentation] }), state: state as string })
  await post(pool, new URL(responseUri as string).pathname, form)
}
