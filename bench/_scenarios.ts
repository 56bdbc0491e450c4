/** The scenarios of `npm run bench`. Each loads its code when it runs. */
import { measure, type Effort, type Suites } from './_harness.ts'
import type { Table } from './_results.ts'

/** The thoroughness of a run. */
export type Scale = {
  quick: boolean
  effort: Effort
  /** Flows that run before the measurement, and the most seconds they take. */
  warmUp: { flows: number; seconds: number }
  /** For each combination of flow, tenants and concurrency. */
  seconds: number
  tenants: number[]
  concurrency: number[]
}

export const full: Scale = {
  quick: false,
  effort: { warmUp: { times: 20_000, cpuMs: 2_000 }, rounds: 51, roundMs: 30 },
  warmUp: { flows: 600, seconds: 60 },
  seconds: 10,
  tenants: [1, 100],
  concurrency: [1, 16, 64],
}

/** For a quick look, and for the guard. */
export const quick: Scale = {
  quick: true,
  effort: { warmUp: { times: 3_000, cpuMs: 800 }, rounds: 25, roundMs: 8 },
  warmUp: { flows: 40, seconds: 4 },
  seconds: 2,
  tenants: [1],
  concurrency: [1, 16],
}

/** The results, and the reasons of failures. */
export type Outcome = { tables: Omit<Table, 'scenario'>[]; failures: string[] }

export type Scenario = {
  name: string
  about: string
  /** It takes minutes, and runs only when named. */
  isLong?: true
  /** It takes an hour or an installation of its own, and is not in `all`. */
  isApart?: true
  /** It belongs to the quick run. */
  isShort?: true
  /** Its time limit; after that it has failed. */
  minutes: number
  run: (scale: Scale) => Promise<Outcome>
}

const shortNames = ['didcomm', 'jwt', 'sd-jwt', 'state', 'route', 'flows/full']

function micro(name: string, about: string, open: () => Promise<Suites>): Scenario {
  const run = async ({ quick, effort }: Scale) => {
    await using opened = await open()
    const tables: Outcome['tables'] = []
    for (const [title, all] of Object.entries(opened.suites)) {
      const works = all.filter(({ isForeign }) => !quick || !isForeign)
      tables.push({ title, rows: await measure(works, effort) })
    }
    return { tables, failures: [] }
  }
  return { name, about, minutes: 5, run, ...(shortNames.includes(name) && { isShort: true }) }
}

const flowNames = [
  'connect',
  'issue-jwt-es256k',
  'issue-jwt-eddsa',
  'issue-sdjwt-eddsa',
  'present-jwt',
  'present-sdjwt',
  'full',
] as const
export type FlowName = (typeof flowNames)[number]

function flow(flowName: FlowName): Scenario {
  const name = `flows/${flowName}`
  const run = async (scale: Scale) => (await import('./flows/measure.ts')).measureFlow(flowName, scale)
  return {
    name,
    about: `two daemons: ${flowName}`,
    isLong: true,
    minutes: 15,
    run,
    ...(shortNames.includes(name) && { isShort: true }),
  }
}

const growth: Scenario[] = [
  {
    name: 'growth/wallets',
    about: 'memory of 1,000 wallets, and how long one takes to make',
    isLong: true,
    minutes: 10,
    run: async () => (await import('./growth/wallets.ts')).measureWallets(1_000),
  },
  {
    name: 'growth/lists',
    about: 'pages of lists with 100,000 records',
    isLong: true,
    minutes: 10,
    run: async (scale) => (await import('./growth/lists.ts')).measureLists(100_000, scale),
  },
  {
    name: 'growth/flow',
    about: 'flows among 1,000 wallets and 100,000 records, next to an empty store',
    isLong: true,
    minutes: 15,
    run: async (scale) =>
      (await import('./growth/flow.ts')).measureGrownFlow({ wallets: 1_000, records: 100_000 }, scale),
  },
  {
    name: 'huge/wallets',
    about: 'memory of 10,000 wallets',
    isLong: true,
    isApart: true,
    minutes: 30,
    run: async () => (await import('./growth/wallets.ts')).measureWallets(10_000),
  },
  {
    name: 'huge/flow',
    about: 'flows among 10,000 wallets and 1,000,000 records, next to an empty store',
    isLong: true,
    isApart: true,
    minutes: 45,
    run: async (scale) =>
      (await import('./growth/flow.ts')).measureGrownFlow({ wallets: 10_000, records: 1_000_000 }, scale),
  },
]

const nodes: Scenario[] = [
  {
    name: 'nodes/stores',
    about: 'full flows in one agent over SQLite files and over PostgreSQL',
    run: async (scale: Scale) => (await import('./nodes/flows.ts')).measureStores(scale),
  },
  {
    name: 'nodes/forwarding',
    about: 'requests at the node that owns the wallet, and at another one',
    run: async (scale: Scale) => (await import('./nodes/forwarding.ts')).measureForwarding(scale),
  },
  {
    name: 'nodes/wallets',
    about: 'memory, connections and take-over of two nodes with 10,000 wallets',
    run: async ({ quick }: Scale) =>
      (await import('./nodes/wallets.ts')).measureManyWallets(quick ? 200 : 10_000),
  },
].map((scenario) => ({ ...scenario, isLong: true, isApart: true, minutes: 20 }))

const mediator: Scenario[] = [
  {
    name: 'mediator/forwards',
    about: 'forwards of 1 kB, next to the build in BENCH_BEFORE if that is set',
    run: async (scale: Scale) => (await import('./mediator/forwards.ts')).measureForwards(scale),
  },
  {
    name: 'mediator/sockets',
    about: 'memory of 10,000 WebSockets with live delivery',
    run: async (scale: Scale) => (await import('./mediator/sockets.ts')).measureSockets(scale),
  },
].map((scenario) => ({ ...scenario, isLong: true, isApart: true, minutes: 15 }))

function peer(name: 'veramo' | 'credo', title: string): Scenario {
  const about = `full flows, next to ${title} (installed by itself: see docs/reference/benchmarks.md)`
  const run = async (scale: Scale) => (await import('./peers/measure.ts')).measurePeer(name, scale)
  return { name: `peers/${name}`, about, isLong: true, isApart: true, minutes: 10, run }
}

export const scenarios: readonly Scenario[] = [
  // First, while nothing else runs.
  {
    name: 'start',
    about: 'how long commands take, next to a bare Node',
    minutes: 5,
    run: async (scale) => (await import('./cli.ts')).runStarts(scale),
  },
  {
    name: 'daemon',
    about: 'how long the daemon takes until it answers, and its memory when idle',
    minutes: 5,
    run: async (scale) => (await import('./daemon-start.ts')).runDaemonStarts(scale),
  },
  micro('didcomm', 'envelopes packed and unpacked, next to node:crypto and didcomm-node', async () =>
    (await import('./didcomm.ts')).openDidcomm(),
  ),
  micro('jwt', 'credentials signed and verified, next to bare steps, jose and did-jwt', async () =>
    (await import('./credentials.ts')).openJwt(),
  ),
  micro('sd-jwt', 'SD-JWT credentials issued and verified, next to bare steps and @sd-jwt/core', async () =>
    (await import('./sd-jwt.ts')).openSdJwt(),
  ),
  micro('mdoc', 'mdocs issued and verified, next to bare cryptography and @owf/mdoc', async () =>
    (await import('./mdoc.ts')).openMdoc(),
  ),
  micro('state', 'steps of records, each a commit, next to the bare statements', async () =>
    (await import('./state.ts')).openState(),
  ),
  micro('route', 'requests over HTTP, next to a bare server', async () =>
    (await import('./route.ts')).openRoute(),
  ),
  micro('dids', 'DIDs made, published and resolved on the embedded ledger', async () =>
    (await import('./did.ts')).openDids(),
  ),
  micro('resolve', 'DIDs resolved cold and from the cache', async () =>
    (await import('./did-cache.ts')).openCacheSuites(),
  ),
  micro('enterprise', 'DID requests and challenges over HTTP', async () =>
    (await import('./enterprise.ts')).openEnterpriseSuites(),
  ),
  micro('anoncreds', 'AnonCreds issued, presented and verified, next to the bare library', async () =>
    (await import('./anoncreds.ts')).openAnonCredsSuites(),
  ),
  {
    name: 'creddef',
    about: 'answers of a daemon while keys of credential definitions are made',
    minutes: 5,
    run: async ({ quick }) => (await import('./generating.ts')).measureGenerating(quick ? 3 : 10),
  },
  ...flowNames.map(flow),
  {
    name: 'oid4vci',
    about: 'issuances over OpenID4VCI, next to a bare issuer',
    isLong: true,
    minutes: 10,
    run: async (scale) => (await import('./openid/issuance.ts')).measureOpenId4Vci(scale),
  },
  {
    name: 'oid4vp',
    about: 'presentations over OpenID4VP, next to a bare verifier',
    isLong: true,
    minutes: 10,
    run: async (scale) => (await import('./openid/verification.ts')).measureOpenId4Vp(scale),
  },
  {
    name: 'way',
    about: 'counts the work of each step of a full flow: calls, promises, SQL, JSON, …',
    isLong: true,
    isApart: true,
    minutes: 10,
    run: async (scale) => (await import('./way/measure.ts')).measureWay(scale),
  },
  {
    name: 'metrics',
    about: 'full flows with metrics and without, by turns',
    isLong: true,
    isApart: true,
    minutes: 15,
    run: async (scale) => (await import('./flows/metrics.ts')).measureMetrics(scale),
  },
  {
    name: 'builds',
    about: 'full flows and OpenID4VC of this build and of the one in BENCH_BEFORE, by turns',
    isLong: true,
    isApart: true,
    minutes: 60,
    run: async (scale) => (await import('./flows/builds.ts')).measureBuilds(scale),
  },
  ...growth,
  ...nodes,
  ...mediator,
  peer('veramo', 'Veramo 7'),
  peer('credo', 'Credo-TS 0.6'),
]

/**
 * Selects scenarios by words, each the beginning of a name or of its part after the slash; returns words
 * without a match. `all` selects all scenarios except those that run only by name. Without words: the quick
 * ones of a quick run, otherwise all but the long ones.
 */
export function choose(
  words: readonly string[],
  isQuick: boolean,
): { scenarios: Scenario[]; unknown: string[] } {
  if (words.length === 0)
    return {
      scenarios: scenarios.filter(({ isShort, isLong }) => (isQuick ? isShort : !isLong)),
      unknown: [],
    }
  const isMeant = ({ name, isApart }: Scenario, word: string) =>
    (word === 'all' && !isApart) || name.startsWith(word) || name.split('/')[1]?.startsWith(word) === true
  return {
    scenarios: scenarios.filter((scenario) => words.some((word) => isMeant(scenario, word))),
    unknown: words.filter((word) => !scenarios.some((scenario) => isMeant(scenario, word))),
  }
}
