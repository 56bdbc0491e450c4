/**
 * The bare issuer: the four requests of an issuance, with signatures by node:crypto. It checks the code, the
 * access token and the signature of the proof, and nothing else.
 */
import { createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { change, database, digest, found, secret, serve } from './_bare.ts'
import { decode, signJwt } from './_http.ts'

const issuerKey = generateKeyPairSync('ed25519').privateKey
const claims = { familyName: 'Rossi', age: 42 }

database.exec(`
  create table session (id text primary key, state text not null, code text unique, token text unique, data text not null, updated_at text not null);
  create table nonce (nonce text primary key);
`)
const insert = database.prepare("insert into session values (?, 'OfferCreated', ?, null, ?, ?)")
const byCode = database.prepare('select id from session where code = ?')
const byToken = database.prepare('select id, data from session where token = ?')
const redeem = database.prepare(
  "update session set state = 'OfferRedeemed', code = null, token = ?, updated_at = ? where id = ?",
)
const send = database.prepare(
  "update session set state = 'CredentialSent', data = ?, updated_at = ? where id = ?",
)
const useNonce = database.prepare('insert into nonce values (?)')

/** The public key of a proof. @throws if its signature is wrong */
function verifyProof(jwt: string): { jwk: object; nonce: string } {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const { jwk } = decode(header) as { jwk: object }
  const key = createPublicKey({ key: jwk as never, format: 'jwk' })
  if (!verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
    throw new Error('the proof is not signed by its key')
  return { jwk, nonce: decode(payload)['nonce'] as string }
}

await serve({
  '/issuer/offers'() {
    const [id, code] = [randomUUID(), secret()]
    change(id, 'OfferCreated', { claims }, (now) =>
      insert.run(id, digest(code), JSON.stringify({ claims }), now),
    )
    return { code }
  },
  '/issuer/token'(body) {
    const code = new URLSearchParams(body).get('pre-authorized_code') ?? ''
    const { id } = found(byCode.get(digest(code))) as { id: string }
    const token = secret()
    change(id, 'OfferRedeemed', { claims }, (now) => redeem.run(digest(token), now, id))
    return { access_token: token, token_type: 'Bearer', expires_in: 600 }
  },
  '/issuer/nonce': () => ({ c_nonce: secret() }),
  '/issuer/credentials'(body, { headers }) {
    const token = headers.authorization!.slice('Bearer '.length)
    const { id, data } = found(byToken.get(digest(token))) as { id: string; data: string }
    const { jwk, nonce } = verifyProof(JSON.parse(body).proofs.jwt[0] as string)
    const credential = signJwt(
      issuerKey,
      { typ: 'JWT' },
      { iss: 'bare', cnf: { jwk }, ...(JSON.parse(data) as object) },
    )
    change(id, 'CredentialSent', { claims }, (now) => {
      useNonce.run(digest(nonce))
      send.run(JSON.stringify({ claims, credential }), now, id)
    })
    return { credentials: [{ credential }] }
  },
})
