/** Flows between the tenants of one agent: over SQLite files and PostgreSQL. By turns in one run. */
import { assemble } from '../../test/support/assemble.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { measureSetup, warmUp, type Work } from '../flows/measure.ts'
import { openAgent, type Measured } from './_setups.ts'

const concurrency = 16
const rounds = 6

type Way = { name: string; env: Record<string, string> }

const one: Way = { name: 'SQLite files', env: {} }
const onPostgres: Way = { name: 'PostgreSQL', env: { AGENT_DATABASE_URL: '' } }

export function measureStores(scale: Scale): Promise<Outcome> {
  return measureWays('One agent: full, by store', [one, onPostgres], scale)
}

async function measureWays(title: string, ways: readonly Way[], scale: Scale): Promise<Outcome> {
  const pairs = scale.quick ? 4 : 16
  await using agents = await assemble(async (use) => {
    const all: (Measured & { work: Work; rows: Row['figures'][] })[] = []
    for (const { env } of ways) {
      const measured = use(await openAgent(pairs, env))
      all.push({ ...measured, work: await warmUp(measured.setup, 'full', scale.warmUp), rows: [] })
    }
    return { all }
  })
  const opened = agents.all
  const failures: string[] = []
  for (let round = 0; round < rounds; round++)
    for (const way of round % 2 === 0 ? opened : opened.toReversed()) {
      const { figures, reasons } = await measureWay(way, scale.seconds)
      way.rows.push(figures)
      failures.push(...reasons)
    }
  const medians = opened.map(({ rows }) => medianOf(rows))
  const rows = medians.map((figures, index) => ({
    name: ways[index]!.name,
    figures: {
      ...figures,
      ...(index > 0 && {
        ratio: medians[0]!.perSecond! / figures.perSecond!,
        cpuRatio: (figures.cpuMs! + (figures.databaseMs ?? 0)) / medians[0]!.cpuMs!,
      }),
    },
  }))
  return { tables: [{ title, rows }], failures }
}

async function measureWay({ setup, work, cpu }: Measured & { work: Work }, seconds: number) {
  const before = cpu()
  const { figures, reasons } = await measureSetup(setup, work, concurrency, seconds)
  const after = cpu()
  const { tenants, perSecond, p50, p95, failed } = figures
  const flows = perSecond * seconds
  const cpuMs = (after.agent - before.agent) / flows
  const databaseMs = (after.database - before.database) / flows
  return {
    reasons,
    figures: {
      tenants,
      concurrency,
      perSecond,
      p50,
      p95,
      cpuMs,
      ...(databaseMs > 0 && { databaseMs }),
      failed,
    },
  }
}

function medianOf(rows: readonly Row['figures'][]): Row['figures'] {
  const names = Object.keys(rows[0]!) as (keyof Row['figures'])[]
  return Object.fromEntries(
    names.map((name) => {
      const values = rows.map((row) => row[name] ?? 0).toSorted((a, b) => a - b)
      return [name, values[Math.floor(values.length / 2)]]
    }),
  )
}
