/**
 * Two daemon processes, every commit on disk, with issuers at one and holders at the other, and webhooks for
 * all of them.
 */
import { fileURLToPath } from 'node:url'
import PQueue from 'p-queue'
import { Pool } from 'undici'
import * as z from 'zod'
import { assemble } from '../../test/support/assemble.ts'
import type { Daemon } from '../../test/support/daemon.ts'
import * as tenants from '../../test/support/tenants.ts'
import { openReceiver, type Receiver } from './_receiver.ts'

/** The time limit of a request, in milliseconds. */
const patienceMs = 30_000

/** Pairs that are created concurrently. */
const madeAtOnce = 8

export const meter = fileURLToPath(new URL('_meter.mjs', import.meta.url))

export type Key = 'secp256k1' | 'Ed25519'

/** A tenant: `ask` calls the daemon over keep-alive connections, `reached` waits for its webhook. */
export type Tenant = tenants.Tenant & {
  ask: (key: string, body?: object) => Promise<Record<string, any>>
  reached: (subject: string, state: string) => Promise<Record<string, any>>
}

/** An issuer that is also the verifier, a holder, and a connection between them for flows that need one. */
export type Pair = {
  issuer: Tenant
  holder: Tenant
  issuingDIDs: Record<Key, string>
  subjectId: string
  schemaId: string
  connectionId: string
}

/** The resources a daemon used since the last call; see `_meter.mjs`. */
export const Used = z.object({
  cpuMs: z.number(),
  mainMs: z.number(),
  delayMs: z.number(),
  longestMs: z.number(),
  residentMb: z.number(),
})
export type Used = z.output<typeof Used>

/** A daemon, its address, and its events. */
type Side = { daemon: Daemon; pool: Pool; receiver: Receiver; timed: { durations: number[] } }

export type Setup = Awaited<ReturnType<typeof openSetup>>

type Daemons = AsyncDisposable & { acme: Daemon; alice: Daemon }

/**
 * Starts two daemons and creates pairs of tenants; `more` adds to the variables of both daemons. `start` may
 * start one daemon for both sides.
 */
export function openSetup(
  pairs: number,
  more: Record<string, string> = {},
  start: (env: Record<string, string>) => Promise<Daemons> = tenants.startDaemonPair,
) {
  return assemble(async (use) => {
    const receiver = use(await openReceiver())
    const env = { NODE_OPTIONS: `--import=${meter}`, ENTERPRISE_EVENTS: 'false', ...more }
    const { acme, alice } = use(await start(env))
    const timed = { durations: [] as number[] }
    const reach = (daemon: Daemon): Side => {
      const pool = new Pool(daemon.url, {
        connections: 64,
        headersTimeout: patienceMs,
        bodyTimeout: patienceMs,
      })
      use({ [Symbol.asyncDispose]: () => pool.close() })
      return { daemon, pool, receiver, timed }
    }
    const [issuing, holding] = [reach(acme), reach(alice)]
    const made: Pair[] = []
    const queue = new PQueue({ concurrency: madeAtOnce })
    const makePair = async (n: number) => {
      const issuer = await openTenant(issuing, `issuer-${n}`)
      const holder = await openTenant(holding, `holder-${n}`)
      made.push(await newPair(issuer, holder))
    }
    await queue.addAll(Array.from({ length: pairs }, (_, n) => () => makePair(n)))
    return {
      pairs: made,
      daemons: { acme, alice },
      forget: () => receiver.forget(),
      /** The requests at the webhook receiver since the last call. */
      received: () => receiver.received(),
      /** The milliseconds of each request since the last call. */
      requests: () => timed.durations.splice(0),
      /** The resources of both daemons since the last call. */
      used: () =>
        Promise.all(
          [...new Set([acme, alice])].map(async (daemon) =>
            Used.parse(await daemon.exchange({ type: 'meter' })),
          ),
        ),
    }
  })
}

async function openTenant({ daemon, pool, receiver, timed }: Side, name: string): Promise<Tenant> {
  const tenant = await daemon.newTenant(name)
  const { walletId, apiKey } = tenant
  const ask = async (key: string, body?: object) => {
    const [method, path] = key.split(' ') as ['GET' | 'POST' | 'PATCH', string]
    const headers = { apikey: apiKey, ...(body && { 'content-type': 'application/json' }) }
    const start = performance.now()
    const response = await pool.request({ method, path, headers, body: body ? JSON.stringify(body) : null })
    const text = await response.body.text()
    timed.durations.push(performance.now() - start)
    if (response.statusCode >= 300) throw new Error(`${key} was answered ${response.statusCode}: ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, any>)
  }
  // The most events of a request; unset, a request has one event.
  const batch = process.env['BENCH_BATCH']
  await ask('POST /events/webhooks', { url: receiver.url, ...(batch && { batch: Number(batch) }) })
  return { ...tenant, ask, reached: (subject, state) => receiver.reached(walletId, subject, state) }
}

async function newPair(issuer: Tenant, holder: Tenant): Promise<Pair> {
  const publish = async (curve: Key) => (await tenants.newDid(issuer, 'assertionMethod', curve)).did
  const issuingDIDs = { secp256k1: await publish('secp256k1'), Ed25519: await publish('Ed25519') }
  const { longFormDid: subjectId } = await tenants.newDid(holder, 'authentication', 'Ed25519')
  const schemaId = await tenants.publishSchema(issuer, issuingDIDs.secp256k1, {
    properties: { familyName: { type: 'string' }, age: { type: 'integer' } },
    required: ['familyName', 'age'],
  })
  const connectionId = await connect({ issuer, holder })
  return { issuer, holder, issuingDIDs, subjectId, schemaId, connectionId }
}

/** Connects a pair; returns the issuer's connection. */
export async function connect({ issuer, holder }: Pick<Pair, 'issuer' | 'holder'>): Promise<string> {
  const made = await issuer.ask('POST /connections', { label: 'bench' })
  const { connectionId, thid } = made
  await holder.ask('POST /connection-invitations', { invitation: tenants.oobOf(made) })
  await Promise.all([
    issuer.reached(thid, 'ConnectionResponseSent'),
    holder.reached(thid, 'ConnectionResponseReceived'),
  ])
  return connectionId as string
}
