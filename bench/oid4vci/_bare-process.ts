/**
 * The bare issuer, in a process of its own: the four requests of an issuance over node:http, prepared statements, a commit on disk for
 * each state change, a webhook for each, signatures by node:crypto. It checks the code, the access token and the signature of the
 * proof, and nothing else. It answers each message with its CPU time. Arguments: a folder, and the URL of the webhook receiver.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Pool } from 'undici'
import { openSqlite } from '../../src/storage/sqlite.ts'

const [folder, receiver] = process.argv.slice(2) as [string, string]
const webhooks = new Pool(new URL(receiver).origin, { connections: 16 })
const issuerKey = generateKeyPairSync('ed25519').privateKey
const claims = { familyName: 'Rossi', age: 42 }

const database = openSqlite(join(folder, 'bare-issuer.db'))
database.exec(`
  create table session (id text primary key, state text not null, code text unique, token text unique, data text not null, updated_at text not null);
  create table event (sequence integer primary key, id text not null unique, subject text not null, data text not null, ts text not null);
  create table nonce (nonce text primary key);
  create index event_subject on event (subject);
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
const note = database.prepare('insert into event (id, subject, data, ts) values (?, ?, ?, ?)')

/** Changes a session in a commit, with its event, and then calls the webhook. */
function change(id: string, state: string, statement: (now: string) => unknown): void {
  const now = new Date().toISOString()
  const data = { recordId: id, thid: id, protocolState: state, claims }
  const event = JSON.stringify({ id: randomUUID(), type: 'Changed', ts: now, walletId: 'bare', data })
  database.transaction(() => {
    statement(now)
    note.run(randomUUID(), id, event, now)
  })()
  const headers = { 'content-type': 'application/json' }
  void webhooks.request({ method: 'POST', path: '/', headers, body: event }).then(({ body }) => body.dump())
}

const secret = () => randomBytes(32).toString('base64url')
const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, any>

function sealOf(payload: object): string {
  const input = `${encode({ alg: 'EdDSA', typ: 'JWT' })}.${encode(payload)}`
  return `${input}.${sign(null, Buffer.from(input), issuerKey).toString('base64url')}`
}

/** The public key of a proof. @throws if its signature is wrong */
function verifyProof(jwt: string): { jwk: object; nonce: string } {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const { jwk } = decode(header) as { jwk: object }
  const key = createPublicKey({ key: jwk as never, format: 'jwk' })
  if (!verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
    throw new Error('the proof is not signed by its key')
  return { jwk, nonce: decode(payload)['nonce'] as string }
}

function idOf(found: unknown): string {
  if (!found) throw new Error('the session is unknown')
  return (found as { id: string }).id
}

const requests: Record<string, (body: string, request: IncomingMessage) => object> = {
  '/issuer/offers'() {
    const [id, code] = [randomUUID(), secret()]
    change(id, 'OfferCreated', (now) => insert.run(id, digest(code), JSON.stringify({ claims }), now))
    return { code }
  },
  '/issuer/token'(body) {
    const id = idOf(byCode.get(digest(new URLSearchParams(body).get('pre-authorized_code') ?? '')))
    const token = secret()
    change(id, 'OfferRedeemed', (now) => redeem.run(digest(token), now, id))
    return { access_token: token, token_type: 'Bearer', expires_in: 600 }
  },
  '/issuer/nonce': () => ({ c_nonce: secret() }),
  '/issuer/credentials'(body, { headers }) {
    const found = byToken.get(digest(headers.authorization!.slice('Bearer '.length)))
    const id = idOf(found)
    const { jwk, nonce } = verifyProof(JSON.parse(body).proofs.jwt[0] as string)
    const credential = sealOf({ iss: 'bare', cnf: { jwk }, ...JSON.parse((found as { data: string }).data) })
    change(id, 'CredentialSent', (now) => {
      useNonce.run(digest(nonce))
      send.run(JSON.stringify({ claims, credential }), now, id)
    })
    return { credentials: [{ credential }] }
  },
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const reply = requests[request.url!]!(Buffer.concat(chunks).toString(), request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

let before = process.cpuUsage()
process.on('message', () => {
  const { user, system } = process.cpuUsage(before)
  before = process.cpuUsage()
  process.send!({ cpuMs: (user + system) / 1_000 })
})
process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/issuer` })
