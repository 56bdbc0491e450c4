/**
 * Full flows, and flows of OpenID4VC, of this build and of an earlier one by turns in one run: rounds of as
 * many flows each, in changing order. `BENCH_BEFORE` is the folder of the built checkout to compare with;
 * `BENCH_SIZES` selects sizes by their numbers from 1 (`1,4`), and `BENCH_BATCH=20` has
 * webhooks of the first sizes that take arrays of events.
 */
import { join } from 'node:path'
import { assemble } from '../../test/support/assemble.ts'
import { Daemon, thisProgram } from '../../test/support/daemon.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import type { FigureName, Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { cpuMsOf } from '../nodes/_processes.ts'
import { openServer, pidOf } from '../nodes/_setups.ts'
import { issuanceFlows } from '../openid/issuance.ts'
import { measureFlow, openAgent, type Flow } from '../openid/_next-to-bare.ts'
import { verificationFlows } from '../openid/verification.ts'
import { measureSetup, warmUp } from './measure.ts'
import { openSetup } from './_setup.ts'

type Agent = Awaited<ReturnType<typeof openAgent>>

type Size = {
  name: string
  concurrency: number
  flows: number
  /** The pairs of tenants of full flows. */
  pairs?: number
  isOnPostgres?: true
  /** The flow of OpenID4VC, instead of full flows. */
  openId?: (agent: Agent) => Promise<Flow>
}

const sizes: readonly Size[] = [
  { name: 'SQLite files', pairs: 1, concurrency: 16, flows: 100 },
  { name: 'SQLite files', pairs: 1, concurrency: 1, flows: 30 },
  { name: 'SQLite files', pairs: 100, concurrency: 16, flows: 100 },
  { name: 'PostgreSQL', pairs: 4, concurrency: 16, flows: 60, isOnPostgres: true },
  {
    name: 'OpenID4VCI, jwt_vc_json',
    concurrency: 16,
    flows: 300,
    openId: async (agent) => (await issuanceFlows(agent))[0],
  },
  {
    name: 'OpenID4VCI, dc+sd-jwt',
    concurrency: 16,
    flows: 300,
    openId: async (agent) => (await issuanceFlows(agent))[1],
  },
  {
    name: 'OpenID4VP, dc+sd-jwt',
    concurrency: 16,
    flows: 300,
    openId: async (agent) => (await verificationFlows(agent))[0],
  },
]

const names = ['before', 'after'] as const
type Build = (typeof names)[number]

type Figures = Row['figures']
type Round = { figures: Figures; reasons: string[] }
/** A build of a size: measures one round. */
type Side = () => Promise<Round>

/** The rounds of each size, and flows before them. */
const [rounds, warmFlows] = [9, 2_000]

export async function measureBuilds({ quick }: Scale): Promise<Outcome> {
  const before = process.env['BENCH_BEFORE']
  if (before === undefined)
    throw new Error('BENCH_BEFORE is not set: the folder of the build to compare with')
  const programs = { before: join(before, 'bin/daemon.cjs'), after: thisProgram }
  const rows: Row[] = []
  const failures: string[] = []
  for (const size of chosen(quick)) {
    await using sides = await openSides(size, programs, quick ? 200 : warmFlows)
    const found: Record<Build, Figures[]> = { before: [], after: [] }
    for (let round = 0; round < rounds; round++)
      for (const build of round % 2 === 0 ? names : names.toReversed()) {
        const { figures, reasons } = await sides[build]()
        found[build].push(figures)
        failures.push(...reasons)
      }
    for (const build of names)
      rows.push({ name: `${size.name}, ${build}`, figures: mediansOf(found[build], found.before) })
  }
  return { tables: [{ title: 'Two builds, by turns', rows }], failures }
}

function chosen(quick: boolean): readonly Size[] {
  const numbers = process.env['BENCH_SIZES']?.split(',').map(Number)
  if (numbers) return sizes.filter((_, index) => numbers.includes(index + 1))
  return quick ? sizes.slice(0, 1) : sizes
}

function openSides(size: Size, programs: Record<Build, string>, flows: number) {
  return assemble(async (use) => {
    const open = async (build: Build): Promise<Side> => {
      const opened = use(await (size.openId ? openIssuer : openPairs)(size, programs[build], flows))
      return opened.measure
    }
    return { before: await open('before'), after: await open('after') }
  })
}

function openIssuer({ openId, concurrency, flows }: Size, program: string, warm: number) {
  return assemble(async (use) => {
    const agent = use(await openAgent('openid', program))
    const flow = await openId!(agent)
    await measureFlow(agent, flow, { concurrency: 16, seconds: 180, most: warm })
    return { measure: () => measureFlow(agent, flow, { concurrency, seconds: 60, most: flows }) }
  })
}

function openPairs({ pairs = 1, concurrency, flows, isOnPostgres }: Size, program: string, warm: number) {
  return assemble(async (use) => {
    const server = isOnPostgres ? use(await openServer()) : undefined
    const setup = use(
      await openSetup(pairs, {}, (env) =>
        assemble(async (keep) => {
          const folder = keep(await temporaryFolder())
          const shared = {
            VDR_URL: `sqlite:${join(folder.path, 'vdr.db')}`,
            DEFAULT_WALLET_ENABLED: 'false',
          }
          const start = async () => {
            const store = server && { AGENT_DATABASE_URL: await server.createDatabase() }
            return keep(await Daemon.start({ ...shared, ...env, ...store }, [], program))
          }
          return { acme: await start(), alice: await start() }
        }),
      ),
    )
    const work = await warmUp(setup, 'full', { flows: warm, seconds: 180 })
    const databaseMs = () => (server ? cpuMsOf(pidOf(server)) : 0)
    const measure = async (): Promise<Round> => {
      const before = databaseMs()
      const { figures, reasons } = await measureSetup(setup, work, concurrency, 60, flows)
      const database = isOnPostgres && { databaseMs: (databaseMs() - before) / flows }
      return { reasons, figures: { ...figures, ...database } }
    }
    return { measure }
  })
}

const shown = [
  'tenants',
  'concurrency',
  'perSecond',
  'p50',
  'p95',
  'cpuMs',
  'mainMs',
  'databaseMs',
  'failed',
] as const

/** Medians, and medians of the ratios to the same round of the other build. */
function mediansOf(all: readonly Figures[], others: readonly Figures[]): Figures {
  const of = (name: FigureName) => all.flatMap((each) => each[name] ?? [])
  const ratioOf = (name: FigureName) => median(all.map((each, round) => each[name]! / others[round]![name]!))
  const isOnPostgres = of('databaseMs').length > 0
  return {
    ...Object.fromEntries(
      shown.filter((name) => of(name).length > 0).map((name) => [name, median(of(name))]),
    ),
    ...(all !== others && {
      cpuRatio: ratioOf('cpuMs'),
      mainRatio: ratioOf('mainMs'),
      ...(isOnPostgres && { databaseRatio: ratioOf('databaseMs') }),
    }),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
