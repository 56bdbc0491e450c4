/** Latency of a daemon while it generates keys of credential definitions, next to its idle latency. */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { Tenant } from '../test/support/api.ts'
import { Daemon } from '../test/support/daemon.ts'
import { percentile } from '../test/faults/_samples.ts'
import type { Outcome } from './_scenarios.ts'

/** Milliseconds from a request to its reply, and delay of the daemon's event loop. */
type Answers = {
  name: string
  figures: { p50: number; p95: number; p99: number; requestMax: number; loopP99: number }
}

const meter = fileURLToPath(new URL('flows/_meter.mjs', import.meta.url))
const Used = z.object({ delayMs: z.number() })

const path = '/credential-definition-registry/definitions'

/**
 * A hundred requests a second of one tenant for some seconds, first without, then with another tenant's
 * definitions being generated.
 */
export async function measureGenerating(seconds: number): Promise<Outcome> {
  await using daemon = await Daemon.start({ NODE_OPTIONS: `--import=${meter}` })
  const [issuer, other] = [await daemon.newTenant('issuer'), await daemon.newTenant('other')]
  const ask = async () =>
    (await fetch(`${daemon.url}/connections`, { headers: { apikey: other.apiKey } })).arrayBuffer()
  const used = async () => Used.parse(await daemon.exchange({ type: 'meter' })).delayMs
  await measure('', ask, used, 1)
  const idle = await measure('nothing else', ask, used, seconds)
  const made = await begin(issuer, Math.min(20, seconds * 2))
  const busy = await measure('keys being made', ask, used, seconds)
  const rows = [idle, { ...busy, name: `${busy.name} (${await made()} in ${seconds} s)` }]
  return {
    tables: [{ title: 'AnonCreds: answers of a daemon while keys of credential definitions are made', rows }],
    failures: [],
  }
}

/** Starts the generation of some definitions. Returns a function that counts the finished ones. */
async function begin({ call, url }: Tenant, count: number): Promise<() => Promise<number>> {
  const documentTemplate = {
    publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' as const }],
    services: [],
  }
  const { longFormDid: author } = await call('POST /did-registrar/dids', { body: { documentTemplate } })
  const named = { name: 'id card', version: '1.0.0', author }
  const schema = {
    name: 'id card',
    version: '1.0.0',
    attrNames: ['name', 'age', 'country', 'city'],
    issuerId: author,
  }
  const { guid } = await call('POST /schema-registry/schemas', {
    body: { ...named, type: 'AnoncredSchemaV1', schema },
  })
  const schemaId = `${url}/schema-registry/schemas/${guid}/schema`
  const body = { ...named, tag: 'id', schemaId, signatureType: 'CL', supportRevocation: false } as const
  for (let n = 0; n < count; n++) await call(`POST ${path}`, { headers: { prefer: 'respond-async' }, body })
  return async () => (await call(`GET ${path}`)).contents.filter(({ state }) => state === 'READY').length
}

async function measure(
  name: string,
  ask: () => Promise<unknown>,
  used: () => Promise<number>,
  seconds: number,
): Promise<Answers> {
  const times: number[] = []
  await used()
  for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
    const start = performance.now()
    await ask()
    times.push(performance.now() - start)
    await sleep(10)
  }
  const of = (share: number) => percentile(times, share)
  return {
    name,
    figures: { p50: of(0.5), p95: of(0.95), p99: of(0.99), requestMax: of(1), loopP99: await used() },
  }
}
