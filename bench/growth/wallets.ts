/**
 * Cost of wallets: creation time, and the memory of a daemon with many, when they are created and after each
 * was used.
 */
import { Pool } from 'undici'
import { memory } from '../../cli/daemon/launch.ts'
import { adminToken } from '../../test/support/api.ts'
import { Daemon } from '../../test/support/daemon.ts'
import { percentile } from '../../test/faults/_samples.ts'
import { meter, Used } from '../flows/_setup.ts'
import type { Row } from '../_results.ts'
import type { Outcome } from '../_scenarios.ts'

/** A daemon with one used wallet, and then with many. */
export async function measureWallets(count: number): Promise<Outcome> {
  // The settings of `agent daemon start`.
  const env = { ...memory, DEFAULT_WALLET_ENABLED: 'false', NODE_OPTIONS: `--import=${meter}` }
  await using daemon = await Daemon.start(env)
  const pool = new Pool(daemon.url, { connections: 1 })
  const ask = async (path: string, headers: Record<string, string>, body?: object) => {
    const start = performance.now()
    const method = body ? 'POST' : 'GET'
    const sent = body && { body: JSON.stringify(body) }
    const response = await pool.request({
      method,
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      ...sent,
    })
    const text = await response.body.text()
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} was answered ${response.statusCode}: ${text}`)
    return { ms: performance.now() - start, body: (text === '' ? {} : JSON.parse(text)) as { id: string } }
  }
  const admin = { 'x-admin-api-key': adminToken }
  const newWallet = async (n: number) => {
    const { ms, body } = await ask('/wallets', admin, { name: `wallet-${n}` })
    const entity = await ask('/iam/entities', admin, { name: `tenant-${n}`, walletId: body.id })
    await ask('/iam/apikey-authentication', admin, { entityId: entity.body.id, apiKey: keyOf(n) })
    return ms
  }
  const look = (n: number) => ask('/connections', { apikey: keyOf(n) })
  const used = async () => Used.parse(await daemon.exchange({ type: 'meter' }))
  const held = async () => Used.parse(await daemon.exchange({ type: 'meter', collect: true })).residentMb

  const rows: Row[] = [{ name: 'idle, as started', figures: { megabytes: (await used()).residentMb } }]
  const first = await newWallet(0)
  // As many requests as later, so that both measurements include their garbage.
  for (let n = 0; n < Math.min(count, 1_000); n++) await look(0)
  const one = await held()
  rows.push({ name: 'one wallet, in use', figures: { ms: first, megabytes: one } })
  await used()
  const times: number[] = []
  for (let n = 1; n < count; n++) times.push(await newWallet(n))
  const making = await used()
  const made = await held()
  const of = `${count.toLocaleString('en')} wallets`
  const each = (megabytes: number) => ({ megabytes, kilobytesEach: ((megabytes - one) * 1_024) / count })
  const figures = {
    ms: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    cpuMs: making.cpuMs / times.length,
  }
  rows.push({
    name: `${of}, made (ms of a wallet; CPU with its tenant and key)`,
    figures: { ...figures, ...each(made) },
  })
  const looks: number[] = []
  for (let n = 0; n < count; n++) looks.push((await look(n)).ms)
  rows.push({
    name: `${of}, each used`,
    figures: { ms: percentile(looks, 0.5), p99: percentile(looks, 0.99), ...each(await held()) },
  })
  await pool.close()
  return { tables: [{ title: `Growth: ${of}`, rows }], failures: [] }
}

function keyOf(n: number): string {
  return `a-key-of-tenant-${n}-in-the-bench`
}
