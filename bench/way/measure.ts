/**
 * Counts the work of the steps of a full flow, in both daemons together, next to the bare composition. A step
 * is all that follows a request to the API, until both daemons are idle. Load of the machine adds commits of
 * writes that can wait.
 */
import { fileURLToPath } from 'node:url'
import type { Outcome, Scale } from '../_scenarios.ts'
import type { Row } from '../_results.ts'
import { openBare } from '../flows/_bare.ts'
import { all } from '../flows/_flows.ts'
import { openSetup, type Pair, type Tenant } from '../flows/_setup.ts'
import { requests } from '../flows/_steps.ts'
import { resourcesOf, workOf, type Counted, type Next, type Step, type Work } from './_counts.ts'
import { figuresOfResources, figuresOfWork, listsOf, mediansOf, type Often } from './_figures.ts'

const preload = `--import=${fileURLToPath(new URL('_counter.mjs', import.meta.url))}`
const kind = { credentialFormat: 'JWT', curve: 'secp256k1' } as const

/** `warmUp` flows run first, and `flows` are counted, each alone. */
export type Thoroughness = { warmUp: number; flows: number }
export const thorough: Thoroughness = { warmUp: 20, flows: 9 }
export const brief: Thoroughness = { warmUp: 6, flows: 3 }

export async function measureWay({ quick }: Pick<Scale, 'quick'>): Promise<Outcome> {
  const thoroughness = quick ? brief : thorough
  const { rows, lists } = await countDaemons(thoroughness)
  const bare = await countBare(thoroughness)
  const top = (title: string, list: readonly Often[]) => ({
    title: `Work of a full flow: ${title}`,
    rows: list.slice(0, 25).map(({ name, times, kilobytes }) => ({
      name: `\`${name.replaceAll('|', '\\|')}\``,
      figures: { times, ...(kilobytes !== undefined && { kilobytes }) },
    })),
  })
  return {
    tables: [
      { title: 'Work of a full flow', rows },
      { title: 'Work of a full flow: the bare composition', rows: bare },
      top('functions', lists.functions),
      top('calls in packages', lists.packages),
      top('places that create promises', lists.promises),
      top('SQL statements', lists.statements),
      top('places that parse JSON', lists.parsed),
      top('places that produce JSON', lists.produced),
    ],
    failures: [],
  }
}

/** Counts full flows of two daemons. */
export async function countDaemons({ warmUp, flows }: Thoroughness) {
  await using setup = await openSetup(1, { NODE_OPTIONS: preload })

  const [pair] = setup.pairs as [Pair]
  for (let n = 0; n < warmUp; n++) await all(pair, kind)
  const counted: Counted[] = Object.values(setup.daemons).map((daemon) => ({
    pid: daemon.pid,
    exchange: (message) => daemon.exchange(message),
  }))
  return await count(counted, (next) => all(inSteps(pair, next), kind), flows)
}

async function countBare({ warmUp, flows }: Thoroughness): Promise<Row[]> {
  await using bare = await openBare([preload])
  const run = async (next?: Next) => {
    for (const steps of requests) {
      await next?.(steps)
      await bare.run({ steps, concurrency: 1, seconds: 0 })
    }
  }
  for (let n = 0; n < warmUp; n++) await run()
  return (await count([bare], run, flows)).rows
}

/** The medians for each step and the whole flow, and the lists of the whole flow. */
async function count(processes: readonly Counted[], run: (next: Next) => Promise<unknown>, flows: number) {
  const repeat = async <T>(once: () => Promise<T>): Promise<T[]> => {
    const taken: T[] = []
    for (let n = 0; n < flows; n++) taken.push(await once())
    return taken
  }
  // The first one would also count what the counter prepares.
  await workOf(processes, run)
  const works: Step<Work>[][] = await repeat(() => workOf(processes, run))
  const resources = await repeat(() => resourcesOf(processes, run))
  const [work, used] = [mediansOf(works, figuresOfWork), mediansOf(resources, figuresOfResources)]
  const rows: Row[] = [...work].map(([name, figures]) => ({
    name,
    figures: { ...figures, ...used.get(name) },
  }))
  return { rows, lists: listsOf(works) }
}

/** A pair whose requests each begin a step. */
function inSteps(pair: Pair, next: Next): Pair {
  const counted = ({ ask, ...tenant }: Tenant): Tenant => ({
    ...tenant,
    ask: async (key, body) => {
      await next(nameOf(key, body))
      return ask(key, body)
    },
  })
  return { ...pair, issuer: counted(pair.issuer), holder: counted(pair.holder) }
}

/** Replaces ids in a path, and adds the action that a body asks for. */
function nameOf(key: string, body: object = {}): string {
  const path = key.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
  return 'action' in body ? `${path}, ${String(body.action)}` : path
}
