/**
 * `npm run test:metrics -- --flows 200`: a real Prometheus scrapes two daemons during flows. Compares what it
 * has stored with the event logs of the wallets, and evaluates every query of the dashboard and of the
 * alerts. Exits with 1 if a number differs, a query fails or a scrape failed. Needs `prometheus` (Debian: the
 * package prometheus); says so without it, and exits with 0.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import PQueue from 'p-queue'
import { freePort } from '../support/free-port.ts'
import { actOnProof, prove, requestProof } from '../flows/_steps.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  connect,
  issue,
  newDid,
  presentationIn,
  startDaemonPair,
  until,
  type Tenant,
} from '../support/tenants.ts'
import { Webhook } from '../support/webhook.ts'
import { alertsFile, panelQueries, ruleQueries } from './_queries.ts'

const { values } = parseArgs({ options: { flows: { type: 'string', default: '200' } } })
const count = Number(values.flows)
const token = randomUUID()
const protocols = 3

if (spawnSync('prometheus', ['--version']).error)
  console.log('Not run: prometheus is not installed (Debian: apt-get install prometheus).')
else process.exitCode = (await run()) ? 0 : 1

async function run(): Promise<boolean> {
  await using pair = await startDaemonPair({ METRICS_TOKEN: token })
  const { acme, alice, issuer, holder } = pair
  await using webhook = await Webhook.open()
  for (const { call } of [issuer, holder]) await call('POST /events/webhooks', { body: { url: webhook.url } })
  await using prometheus = await startPrometheus([acme.url, alice.url])
  const start = performance.now()
  await runFlows(issuer, holder)
  const seconds = (performance.now() - start) / 1_000
  const logged = await countEvents([issuer, holder])
  const total = sum(logged)
  const stored = async () => byLabel(await prometheus.query('sum by (type) (agent_events_total) > 0'), 'type')
  const scraped = await until('the last events in Prometheus', stored, (all) => sum(all) >= total)
  const transitions = byLabel(
    await prometheus.query('sum by (protocol) (agent_flow_transitions_total)'),
    'protocol',
  )
  const delivered = byLabel(
    await prometheus.query('sum by (outcome) (agent_webhook_deliveries_total)'),
    'outcome',
  )
  const failedScrapes = await prometheus.query('sum(count_over_time((up == 0)[1h:1s]))')
  const scrapes = byLabel(await prometheus.query('max by (job) (count_over_time(up[1h]))'), 'job')
  const empty: string[] = []
  const faults: string[] = []
  for (const { where, expr } of [...panelQueries, ...ruleQueries]) {
    const result = await prometheus.query(expr).catch((error: Error) => error.message)
    if (typeof result === 'string') faults.push(`${where}: ${result}`)
    else if (result.length === 0) empty.push(where)
  }
  console.log({
    flows: count,
    seconds: Math.round(seconds),
    logged,
    scraped,
    transitions,
    delivered,
    scrapes,
  })
  console.log(`Queries without a result, since nothing of the kind has happened: ${empty.join(', ')}.`)
  for (const fault of faults) console.error(fault)
  const isSame = JSON.stringify(logged) === JSON.stringify(scraped)
  if (!isSame) console.error('The counters differ from the event logs.')
  if (failedScrapes.length > 0) console.error('A scrape failed.')
  return isSame && faults.length === 0 && failedScrapes.length === 0 && delivered['delivered'] === total
}

/** Connects, issues and proves, again and again, four flows at a time. A flow is one protocol's. */
async function runFlows(issuer: Tenant, holder: Tenant): Promise<void> {
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const { did: subjectId } = await newDid(holder, 'authentication')
  const queue = new PQueue({ concurrency: 4 })
  const all = async () => {
    const { inviterConnectionId: connectionId } = await connect(issuer, holder)
    const { recordId } = await issue(issuer, holder, connectionId, issuingDID, subjectId)
    const options = { challenge: randomUUID(), domain: 'verifier.example' }
    const { thid, asked, presentationId } = await requestProof(issuer, holder, {
      connectionId,
      proofs: [],
      options,
    })
    await prove(holder, presentationId, recordId)
    await presentationIn(issuer.call, thid, 'PresentationVerified')
    await actOnProof(issuer, asked.presentationId, { action: 'presentation-accept' })
    await presentationIn(holder.call, thid, 'PresentationSent')
  }
  await queue.addAll(Array.from({ length: Math.ceil(count / protocols) }, () => all))
}

/** The number of events in the logs, by type. */
async function countEvents(tenants: readonly Tenant[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { call } of tenants)
    for (let after: string | undefined; ;) {
      const { contents } = await call('GET /events', { query: { limit: 100, ...(after && { after }) } })
      for (const { type } of contents) counts[type] = (counts[type] ?? 0) + 1
      after = contents.at(-1)?.id
      if (after === undefined) break
    }
  return sorted(counts)
}

type Result = { metric: Record<string, string>; value: [number, string] }[]

/** A Prometheus that scrapes daemons every second, with the alerts of the documentation. */
async function startPrometheus(urls: readonly string[]) {
  const folder = await temporaryFolder()
  const targets = urls.map((url) => new URL(url).host)
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '5s' },
    rule_files: [alertsFile],
    scrape_configs: [
      {
        job_name: 'identity-agent',
        metrics_path: '/_system/metrics',
        authorization: { credentials: token },
        static_configs: [{ targets }],
      },
    ],
  }
  // JSON is YAML.
  const file = join(folder.path, 'prometheus.yml')
  writeFileSync(file, JSON.stringify(config))
  const address = `127.0.0.1:${await freePort()}`
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder.path}/data`,
    `--web.listen-address=${address}`,
  ]
  const child = spawn('prometheus', args, { stdio: 'ignore' })
  const query = async (expr: string): Promise<Result> => {
    const response = await fetch(
      `http://${address}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`,
    )
    const { data, error } = (await response.json()) as { data?: { result: Result }; error?: string }
    if (!data) throw new Error(error)
    return data.result
  }
  await until(
    'Prometheus scrapes both',
    () => query('up == 1').catch(() => []),
    (up) => up.length === urls.length,
  )
  return {
    query,
    async [Symbol.asyncDispose]() {
      child.kill()
      await new Promise((resolve) => child.once('exit', resolve))
      await folder[Symbol.asyncDispose]()
    },
  }
}

function byLabel(result: Result, label: string): Record<string, number> {
  return sorted(
    Object.fromEntries(result.map(({ metric, value }) => [metric[label] ?? '', Number(value[1])])),
  )
}

function sorted(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((all, each) => all + each, 0)
}
