/** Requests at the process that owns the wallet, and at another one, which sends them on. By turns in one run. */
import { Pool } from 'undici'
import { percentile } from '../../test/faults/_samples.ts'
import { startNodes } from '../../test/cluster/_nodes.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { cpuMsOf } from './_processes.ts'

const rounds = 12

export async function measureForwarding({ seconds }: Scale): Promise<Outcome> {
  await using nodes = await startNodes(['a', 'b'], { AGENT_LEASE_SECONDS: '60' })
  const pools = nodes.daemons.map(({ url }) => new Pool(url, { connections: 1 }))
  const tenant = await nodes.newTenant('tenant')
  await tenant.call('POST /connections', { body: { label: 'label' } })
  const { node: owner } = (
    await nodes.read<{ node: string }>(`select node.name as node from shard join node on node.id = shard.node
      where shard.id = get_byte(sha256('${tenant.walletId}'::bytea), 0)`)
  )[0]!
  const ownerIndex = owner === 'a' ? 0 : 1
  const works = [
    { name: 'read, direct', pool: pools[ownerIndex]!, method: 'GET' as const },
    { name: 'read, forwarded', pool: pools[1 - ownerIndex]!, method: 'GET' as const },
    { name: 'write, direct', pool: pools[ownerIndex]!, method: 'POST' as const },
    { name: 'write, forwarded', pool: pools[1 - ownerIndex]!, method: 'POST' as const },
  ].map((work) => ({ ...work, times: [] as number[], cpuMs: 0 }))
  const cpu = () => nodes.daemons.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  for (let round = 0; round <= rounds; round++)
    for (const work of round % 2 === 0 ? works : works.toReversed()) {
      const before = cpu()
      const times = await run(work.pool, work.method, tenant.apiKey, (seconds * 1_000) / rounds)
      // The first round warms up.
      if (round > 0) work.times.push(...times)
      if (round > 0) work.cpuMs += cpu() - before
    }
  for (const pool of pools) await pool.close()
  const rows = works.map(({ name, times, cpuMs }, index) => {
    const direct = works[index - (index % 2)]!
    const [p50, each] = [percentile(times, 0.5), cpuMs / times.length]
    const ratios = {
      ratio: p50 / percentile(direct.times, 0.5),
      cpuRatio: each / (direct.cpuMs / direct.times.length),
    }
    return {
      name,
      figures: {
        p50,
        p95: percentile(times, 0.95),
        cpuMs: each,
        ...(index % 2 === 1 && { ...ratios, goal: 1.3 }),
      },
    }
  })
  return { tables: [{ title: 'Two nodes: one request at a time', rows }], failures: [] }
}

async function run(pool: Pool, method: 'GET' | 'POST', apikey: string, ms: number): Promise<number[]> {
  const times: number[] = []
  const body = method === 'POST' ? JSON.stringify({ label: 'bench' }) : null
  for (const end = performance.now() + ms; performance.now() < end;) {
    const begun = performance.now()
    const headers = { apikey, ...(body && { 'content-type': 'application/json' }) }
    const path = method === 'GET' ? '/connections?limit=1' : '/connections'
    const response = await pool.request({ method, path, headers, body })
    await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${method} ${path} was answered ${response.statusCode}`)
    times.push(performance.now() - begun)
  }
  return times
}
