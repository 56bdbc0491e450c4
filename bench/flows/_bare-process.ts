/**
 * The bare composition of a flow's steps, in a process of its own: two parties with a database each, prepared
 * statements, a commit on disk for each state change, envelopes by node:crypto over node:http, signatures by
 * libsecp256k1, webhooks by undici. It has no REST API, no checks and no retries. It answers `{steps,
 * concurrency, seconds}` with its measurement; each flow at once runs at least one time. Arguments: a folder,
 * and the URL of the webhook receiver.
 */
import { createHash, generateKeyPairSync, randomBytes, randomUUID, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Pool } from 'undici'
import { openSqlite } from '../../src/foundation/storage/sqlite.ts'
import { packBare, unpackBare } from '../_envelope.ts'
import { steps, type Party, type Step, type Steps } from './_steps.ts'

const [folder, receiver] = process.argv.slice(2) as [string, string]
const secp256k1 = createRequire(import.meta.url)('secp256k1')
const keys: Record<Party, { privateKey: KeyObject; publicKey: KeyObject }> = {
  acme: generateKeyPairSync('x25519'),
  alice: generateKeyPairSync('x25519'),
}
const otherOf = { acme: 'alice', alice: 'acme' } as const
const data = { text: 'x'.repeat(700) }
const secret = randomBytes(32)
const point = secp256k1.publicKeyCreate(secret) as Uint8Array
const digest = () => createHash('sha256').update(JSON.stringify(data)).digest()
const signature = secp256k1.ecdsaSign(digest(), secret).signature as Uint8Array
const webhooks = new Pool(new URL(receiver).origin, { connections: 16 })

const parties = { acme: await openParty('acme'), alice: await openParty('alice') }

/** A database, and a server that receives envelopes. */
async function openParty(name: Party) {
  const database = openSqlite(join(folder, `bare-${name}.db`))
  database.exec(`
    create table record (id text primary key, state text not null, thid text not null, data text not null, updated_at text);
    create table event (sequence integer primary key, id text not null unique, subject text not null, data text not null, ts text not null);
    create table inbox (id text primary key, received_at text not null);
    create index event_subject on event (subject);
  `)
  const put = database.prepare(
    'insert into record values (?, ?, ?, ?, ?) on conflict (id) do update set state = excluded.state, data = excluded.data',
  )
  const note = database.prepare('insert into event (id, subject, data, ts) values (?, ?, ?, ?)')
  const receive = database.prepare('insert into inbox values (?, ?)')
  /** Changes a state in a commit, and then calls the webhook. */
  const change = (thid: string, messageId?: string) => {
    const now = new Date().toISOString()
    const event = JSON.stringify({
      id: randomUUID(),
      type: 'Changed',
      ts: now,
      walletId: name,
      data: { thid, state: 'Next', ...data },
    })
    database.transaction(() => {
      if (messageId) receive.run(messageId, now)
      put.run(thid, 'Next', thid, JSON.stringify(data), now)
      note.run(randomUUID(), thid, event, now)
    })()
    return post(webhooks, event)
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { privateKey } = keys[name]
      const message = unpackBare(Buffer.concat(chunks).toString(), {
        privateKey,
        publicKey: keys[otherOf[name]].publicKey,
      }) as Letter
      void change(message.thid, message.id)
      response.writeHead(202).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    change,
    pool: new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 16 }),
  }
}

type Order = { steps: Steps; concurrency: number; seconds: number }
type Letter = { id: string; thid: string }

async function post(pool: Pool, body: string): Promise<void> {
  const answer = await pool.request({
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await answer.body.dump()
}

async function flow(script: readonly Step[]): Promise<void> {
  const thid = randomUUID()
  const announced: Promise<void>[] = []
  for (const step of script) {
    if (step === 'acme' || step === 'alice') announced.push(parties[step].change(thid))
    else if (step === 'sign') secp256k1.ecdsaSign(digest(), secret)
    else if (step === 'verify') secp256k1.ecdsaVerify(signature, digest(), point)
    else {
      const [from, to] = step.split('>') as [Party, Party]
      const message = { id: randomUUID(), type: 'https://example.com/1.0/letter', from, to, thid, body: data }
      const { privateKey } = keys[from]
      await post(
        parties[to].pool,
        packBare(message, { privateKey, publicKey: keys[to].publicKey, kid: `${to}#1`, skid: `${from}#1` }),
      )
    }
  }
  await Promise.all(announced)
}

process.on('message', (asked: object) => {
  // `way/_counter.mjs` answers other messages.
  if ('steps' in asked) void run(asked as Order).then((done) => process.send!(done))
})
process.send!({ ready: true })

async function run({ steps: name, concurrency, seconds }: Order) {
  const before = process.cpuUsage()
  const start = performance.now()
  const times: number[] = []
  const work = async () => {
    do {
      const from = performance.now()
      await flow(steps[name])
      times.push(performance.now() - from)
    } while (performance.now() < start + seconds * 1_000)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const { user, system } = process.cpuUsage(before)
  return {
    times,
    cpuMs: (user + system) / 1_000 / times.length,
    perSecond: (times.length * 1_000) / (performance.now() - start),
  }
}
