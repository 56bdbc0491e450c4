/** Many tenants in one daemon: list latency, open files, and the effect of a flooding tenant on another. */
import { readdirSync, readlinkSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { adminToken, type Tenant } from '../support/api.ts'
import { Daemon } from '../support/daemon.ts'
import { percentile } from './_samples.ts'

const flood = fileURLToPath(new URL('_flood.mjs', import.meta.url))

/** Open wallets. Each is a file with two logs. */
const openWallets = 50

/** Milliseconds per measurement, alone and next to a flood, and the number of repetitions. */
const roundMs = 2_000

export type ManyTenants = {
  /** 99th percentile and maximum in milliseconds of a page of wallets. */
  pageP99: number
  pageLongest: number
  /** Maximum of open files, without connections. */
  files: number
  /** Answers other than 2xx by status. */
  errors: Record<string, number>
}

export type Flooded = {
  /** 99th percentile and median of tenant B's requests in milliseconds. */
  quiet: { p50: number; p99: number }
  flooded: { p50: number; p99: number }
  /** Answers per second to the flood by status. */
  flood: Record<string, number>
}

export async function openSetup(env: Record<string, string> = {}) {
  const daemon = await Daemon.start({ AGENT_OPEN_WALLETS: String(openWallets), ...env })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  /** The duration of one request in milliseconds, and its answer. */
  async function ask(key: string, headers: Record<string, string>, body?: object) {
    const [method, path] = key.split(' ') as [string, string]
    const start = performance.now()
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const content = body && { 'content-type': 'application/json' }
      const asked = request(
        daemon.url + path,
        { agent, method, headers: { ...headers, ...content } },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.once('end', () => resolve({ status: response.statusCode!, text }))
        },
      )
      asked.once('error', reject)
      asked.end(body && JSON.stringify(body))
    })
    return {
      ms: performance.now() - start,
      status,
      body: (text === '' ? {} : JSON.parse(text)) as { id: string },
    }
  }
  const asAdmin = (key: string, body?: object) => ask(key, { 'x-admin-api-key': adminToken }, body)

  return {
    daemon,
    ask,
    asAdmin,
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await daemon[Symbol.asyncDispose]()
    },
  }
}
export type Setup = Awaited<ReturnType<typeof openSetup>>

/** Processes items with limited concurrency. */
async function each<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values()
  const workOn = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, workOn))
}

/**
 * Creates `wallets` wallets, `active` of them with active tenants, and lists wallets meanwhile, `rounds`
 * times.
 */
export async function measureManyTenants(
  setup: Setup,
  { wallets, active, rounds = 4 }: { wallets: number; active: number; rounds?: number },
): Promise<ManyTenants> {
  const { ask, asAdmin } = setup
  const errors: Record<string, number> = {}
  const note = ({ status }: { status: number }) => {
    if (status > 299) errors[status] = (errors[status] ?? 0) + 1
  }
  const names = Array.from({ length: wallets }, (_, n) => `wallet ${n}`)
  const tenants: Tenant[] = []
  await each(names.slice(0, active), 4, async (name) => tenants.push(await setup.daemon.newTenant(name)))
  await each(names.slice(active), 4, async (name) => note(await asAdmin('POST /wallets', { name })))

  let files = 0
  const watch = setInterval(() => (files = Math.max(files, filesOf(setup.daemon.pid))), 20)
  for (let round = 0; round < rounds; round++)
    await each(tenants, 32, async ({ apiKey: apikey }) => {
      note(await ask('POST /connections', { apikey }, { label: 'one of many' }))
      note(await ask('GET /connections', { apikey }))
    })
  clearInterval(watch)

  const pages: number[] = []
  for (let n = 0; n < 200; n++) {
    const page = await asAdmin(`GET /wallets?limit=100&offset=${(n * 997) % Math.max(1, wallets - 100)}`)
    note(page)
    pages.push(page.ms)
  }
  return { pageP99: percentile(pages, 0.99), pageLongest: Math.max(...pages), files, errors }
}

/** Measures tenant B's sequential requests, alternately alone and while tenant A floods the daemon. */
export async function measureFlood(
  setup: Setup,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Flooded> {
  const [a, b] = [await setup.daemon.newTenant('a'), await setup.daemon.newTenant('b')]
  const headers = { apikey: b.apiKey }
  const watch = async (waits: number[]) => {
    for (const start = performance.now(); performance.now() - start < roundMs;) {
      for (const key of ['GET /connections?limit=10', 'POST /connections']) {
        const { ms, status } = await setup.ask(key, headers)
        if (status > 299) throw new Error(`tenant B was answered ${status}`)
        waits.push(ms)
      }
    }
  }
  await watch([])
  const [quiet, flooded]: [number[], number[]] = [[], []]
  const sum: Record<string, number> = {}
  const rounds = Math.ceil((seconds * 1_000) / roundMs / 2)
  for (let round = 0; round < rounds; round++) {
    await watch(quiet)
    const process = execa(
      globalThis.process.execPath,
      [flood, setup.daemon.url, a.apiKey, String(connections)],
      { stdin: 'pipe' },
    )
    await watch([])
    await watch(flooded)
    process.stdin.end()
    const statuses = JSON.parse((await process).stdout) as Record<string, number>
    for (const [status, count] of Object.entries(statuses)) sum[status] = (sum[status] ?? 0) + count
  }
  const show = (waits: number[]) => ({ p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) })
  const perSecond = Object.entries(sum).map(
    ([status, count]) => [status, Math.round((count * 1_000) / (rounds * roundMs * 2))] as const,
  )
  return { quiet: show(quiet), flooded: show(flooded), flood: Object.fromEntries(perSecond) }
}

/** Open regular files of a process. */
function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('/')
    } catch {
      return false
    }
  }).length
}
