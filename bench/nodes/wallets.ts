/**
 * Two nodes with many wallets: memory, connections to the database, and how long requests wait when one of
 * the nodes is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { adminToken } from '../../test/support/api.ts'
import { percentile } from '../../test/faults/_samples.ts'
import { startNodes, type Nodes } from '../../test/cluster/_nodes.ts'
import type { Row } from '../_results.ts'
import type { Outcome } from '../_scenarios.ts'
import { megabytesOf } from './_processes.ts'

const atOnce = 8
/** Wallets of the killed node whose requests are timed. */
const maxAsked = 200

export async function measureManyWallets(count: number): Promise<Outcome> {
  await using nodes = await startNodes(['a', 'b'], { AGENT_LEASE_SECONDS: '5' })
  const before = await readFigures(nodes)
  const times: number[] = []
  const made = new PQueue({ concurrency: atOnce })
  const wallets: string[] = []
  await made.addAll(
    Array.from({ length: count }, (_, n) => async () => {
      const begun = performance.now()
      wallets.push(await makeWallet(nodes, n))
      times.push(performance.now() - begun)
    }),
  )
  const looked = new PQueue({ concurrency: atOnce })
  await looked.addAll(Array.from({ length: count }, (_, n) => () => look(nodes.daemons[n % 2]!.url, n)))
  const after = await readFigures(nodes)
  const waits = await killFirst(nodes, count)
  const of = `${count.toLocaleString('en')} wallets`
  const rows: Row[] = [
    { name: 'without wallets, both nodes', figures: before },
    { name: `${of}, each used, both nodes`, figures: { ...after, p50: percentile(times, 0.5) } },
    {
      name: 'request for a wallet of a killed node',
      figures: {
        seconds: Math.max(...waits) / 1_000,
        p50: percentile(waits, 0.5),
        p99: percentile(waits, 0.99),
        goal: 7,
      },
    },
  ]
  return { tables: [{ title: `Two nodes: ${of}`, rows }], failures: [] }
}

async function readFigures(nodes: Nodes): Promise<Row['figures']> {
  const [{ connections }] = (await nodes.read<{ connections: string }>(
    'select count(*) as connections from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )) as [{ connections: string }]
  const megabytes = nodes.daemons.reduce((sum, { pid }) => sum + megabytesOf(pid), 0)
  return { megabytes, connections: Number(connections) }
}

async function makeWallet({ daemons }: Nodes, n: number): Promise<string> {
  const { url } = daemons[n % 2]!
  const call = async (path: string, body: object) => {
    const headers = { 'x-admin-api-key': adminToken, 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.status >= 300) throw new Error(`POST ${path} was answered ${response.status}`)
    return (await response.json().catch(() => ({}))) as { id: string }
  }
  const { id: walletId } = await call('/wallets', { name: `wallet-${n}` })
  const { id: entityId } = await call('/iam/entities', { name: `tenant-${n}`, walletId })
  await call('/iam/apikey-authentication', { entityId, apiKey: keyOf(n) })
  return walletId
}

/** Kills the first node, asks the second one for wallets at once, and returns how long each answer took. */
async function killFirst({ daemons }: Nodes, count: number): Promise<number[]> {
  const [first, second] = daemons
  await first!.stop('SIGKILL')
  const begun = performance.now()
  const step = Math.max(1, Math.floor(count / maxAsked))
  const asked = Array.from({ length: Math.min(count, maxAsked) }, (_, each) => each * step)
  return Promise.all(
    asked.map(async (n) => {
      while (
        !(await look(second!.url, n).then(
          () => true,
          () => false,
        ))
      )
        await sleep(100)
      return performance.now() - begun
    }),
  )
}

async function look(url: string, n: number): Promise<void> {
  const response = await fetch(`${url}/connections`, { headers: { apikey: keyOf(n) } })
  await response.text()
  if (response.status !== 200) throw new Error(`GET /connections was answered ${response.status}`)
}

function keyOf(n: number): string {
  return `a-key-of-tenant-${n}-in-the-bench`
}
