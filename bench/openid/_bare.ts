/**
 * Parts of a bare server, which runs in a process of its own: requests over node:http, a commit on disk for
 * each state change by prepared statements, and a webhook for each. It answers each message of its parent
 * with its CPU time. Arguments: a folder, and the URL of the webhook receiver.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Pool } from 'undici'
import { openSqlite } from '../../src/foundation/storage/sqlite.ts'

const [folder, receiver] = process.argv.slice(2) as [string, string]
const webhooks = new Pool(new URL(receiver).origin, { connections: 16 })

export const database = openSqlite(join(folder, 'bare.db'))
database.exec(`
  create table event (sequence integer primary key, id text not null unique, subject text not null, data text not null, ts text not null);
  create index event_subject on event (subject);
`)
const note = database.prepare('insert into event (id, subject, data, ts) values (?, ?, ?, ?)')

/** Changes a record in a commit, with its event, and then calls the webhook. */
export function change(id: string, state: string, about: object, statement: (now: string) => unknown): void {
  const now = new Date().toISOString()
  const data = { recordId: id, thid: id, protocolState: state, ...about }
  const event = JSON.stringify({ id: randomUUID(), type: 'Changed', ts: now, walletId: 'bare', data })
  database.transaction(() => {
    statement(now)
    note.run(randomUUID(), id, event, now)
  })()
  const headers = { 'content-type': 'application/json' }
  void webhooks.request({ method: 'POST', path: '/', headers, body: event }).then(({ body }) => body.dump())
}

export const secret = () => randomBytes(32).toString('base64url')
export const digest = (text: string) => createHash('sha256').update(text).digest('base64url')

/** A row that has to exist. @throws */
export function found(row: unknown): unknown {
  if (!row) throw new Error('the record is unknown')
  return row
}

/**
 * The reply of a path: JSON, or a text. The last part of a path is the id of a record if the path ends with
 * `/`.
 */
export type Requests = Record<string, (body: string, request: IncomingMessage) => object | string>

/** Serves requests, and reports the URL to the parent. */
export async function serve(requests: Requests): Promise<void> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url!
      const answer = requests[path] ?? requests[path.slice(0, path.lastIndexOf('/') + 1)]
      const reply = answer!(Buffer.concat(chunks).toString(), request)
      const isText = typeof reply === 'string'
      response
        .writeHead(200, { 'content-type': isText ? 'application/jwt' : 'application/json' })
        .end(isText ? reply : JSON.stringify(reply))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let before = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    process.send!({ cpuMs: (user + system) / 1_000 })
  })
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}
