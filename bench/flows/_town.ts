/** Two daemons in processes of their own, every commit on disk, with issuers at one and holders at the other, and webhooks for all of them. */
import { fileURLToPath } from 'node:url'
import PQueue from 'p-queue'
import { Pool } from 'undici'
import { z } from 'zod'
import { Daemon, settingsIn, temporaryFolder } from '../../test/_daemon.ts'
import { openReceiver, type Receiver } from './_receiver.ts'

/** How long a request may take before its flow has failed. */
const patienceMs = 30_000

/** Pairs that are made at the same time. */
const madeAtOnce = 8

export const adminKey = 'an-administrator-of-the-bench'
export const meter = fileURLToPath(new URL('_meter.mjs', import.meta.url))

export type Key = 'secp256k1' | 'Ed25519'

/** A tenant: `ask` calls the daemon, over connections that are kept, `reached` waits for its webhook. */
export type Tenant = {
  walletId: string
  ask: (key: string, body?: object) => Promise<Record<string, any>>
  reached: (subject: string, state: string) => Promise<Record<string, any>>
}

/** An issuer who is the verifier too, a holder, and a connection between them for what is not about connecting. */
export type Pair = {
  issuer: Tenant
  holder: Tenant
  issuingDIDs: Record<Key, string>
  subjectId: string
  schemaId: string
  connectionId: string
}

/** What a daemon has used since it was asked before; see `_meter.mjs`. */
export const Used = z.object({ cpuMs: z.number(), delayMs: z.number(), longestMs: z.number(), residentMb: z.number() })
export type Used = z.output<typeof Used>

export type Town = Awaited<ReturnType<typeof openTown>>

/** Opens a town with so many pairs. */
export async function openTown(pairs: number) {
  const parts: { [Symbol.asyncDispose](): Promise<void> }[] = []
  const use = <T extends { [Symbol.asyncDispose](): Promise<void> }>(part: T) => (parts.push(part), part)
  const close = async () => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]()
  }
  try {
    const folder = use(await temporaryFolder())
    const receiver = use(await openReceiver())
    const start = async (name: string) => {
      const daemon = use(
        await Daemon.start({
          ...settingsIn(folder.path, name, adminKey),
          NODE_OPTIONS: `--import=${meter}`,
          ENTERPRISE_EVENTS: 'false',
        }),
      )
      const pool = new Pool(daemon.url, { connections: 64, headersTimeout: patienceMs, bodyTimeout: patienceMs })
      parts.push({ [Symbol.asyncDispose]: () => pool.close() })
      return { daemon, pool }
    }
    const [acme, alice] = await Promise.all([start('acme'), start('alice')])
    const made: Pair[] = []
    const timed = { durations: [] as number[] }
    const queue = new PQueue({ concurrency: madeAtOnce })
    const makePair = async (n: number) => {
      const issuer = await newTenant(acme, receiver, timed, `issuer-${n}`)
      const holder = await newTenant(alice, receiver, timed, `holder-${n}`)
      made.push(await newPair(issuer, holder, acme.daemon.url))
    }
    await queue.addAll(Array.from({ length: pairs }, (_, n) => () => makePair(n)))
    return {
      pairs: made,
      daemons: { acme: acme.daemon, alice: alice.daemon },
      forget: () => receiver.forget(),
      /** What came to the receiver of webhooks since it was asked before. */
      heard: () => receiver.heard(),
      /** Milliseconds that each request took since it was asked before. */
      requests: () => timed.durations.splice(0),
      /** What both daemons have used since they were asked before. */
      used: () => Promise.all([acme, alice].map(async ({ daemon }) => Used.parse(await daemon.exchange({ type: 'meter' })))),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function newTenant(
  { daemon, pool }: { daemon: Daemon; pool: Pool },
  receiver: Receiver,
  timed: { durations: number[] },
  name: string,
): Promise<Tenant> {
  const apiKey = `key-of-${name}-in-the-town`
  const wallet = await daemon.call('POST /wallets', { adminKey, body: { name } })
  const entity = await daemon.call('POST /iam/entities', { adminKey, body: { name, walletId: wallet.body.id } })
  await daemon.call('POST /iam/apikey-authentication', { adminKey, body: { entityId: entity.body.id, apiKey } })
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
  await ask('POST /events/webhooks', { url: receiver.url })
  return { walletId: wallet.body.id, ask, reached: (subject, state) => receiver.reached(wallet.body.id, subject, state) }
}

async function newPair(issuer: Tenant, holder: Tenant, url: string): Promise<Pair> {
  const publish = async (curve: Key) => {
    const documentTemplate = { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod', curve }], services: [] }
    const { longFormDid } = await issuer.ask('POST /did-registrar/dids', { documentTemplate })
    const did = longFormDid.split(':').slice(0, 3).join(':') as string
    await issuer.ask(`POST /did-registrar/dids/${did}/publications`)
    await issuer.reached(did, 'PUBLISHED')
    return did
  }
  const issuingDIDs = { secp256k1: await publish('secp256k1'), Ed25519: await publish('Ed25519') }
  const documentTemplate = { publicKeys: [{ id: 'key-1', purpose: 'authentication', curve: 'Ed25519' }], services: [] }
  const { longFormDid: subjectId } = await holder.ask('POST /did-registrar/dids', { documentTemplate })
  const { guid } = await issuer.ask('POST /schema-registry/schemas', {
    name: 'person',
    version: '1.0.0',
    type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
    author: issuingDIDs.secp256k1,
    tags: [],
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { familyName: { type: 'string' }, age: { type: 'integer' } },
      required: ['familyName', 'age'],
    },
  })
  const connectionId = await connect({ issuer, holder })
  return { issuer, holder, issuingDIDs, subjectId, schemaId: `${url}/schema-registry/schemas/${guid}`, connectionId }
}

/** Connects a pair; returns the issuer's connection. */
export async function connect({ issuer, holder }: Pick<Pair, 'issuer' | 'holder'>): Promise<string> {
  const { connectionId, thid, invitation } = await issuer.ask('POST /connections', { label: 'bench' })
  await holder.ask('POST /connection-invitations', { invitation: new URL(invitation.invitationUrl).searchParams.get('_oob') })
  await Promise.all([issuer.reached(thid, 'ConnectionResponseSent'), holder.reached(thid, 'ConnectionResponseReceived')])
  return connectionId as string
}
