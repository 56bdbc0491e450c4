/** Sums up CPU profiles of daemons (`BENCH_PROFILE`) by part of the program, or by package. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { openSources } from './_sources.ts'

const Frame = z.object({
  functionName: z.string(),
  url: z.string(),
  lineNumber: z.int(),
  columnNumber: z.int(),
})
const Node = z.object({ id: z.int(), callFrame: Frame, children: z.array(z.int()).optional() })
const Profile = z.object({ nodes: z.array(Node), samples: z.array(z.int()), timeDeltas: z.array(z.number()) })
type Node = z.output<typeof Node>

/** Samples of waiting. */
const idle = '(idle)'

/** Samples of the profiler. */
const profiler = 'Node: inspector'

export type Share = { name: string; ms: number; share: number }

/**
 * Sums up the profiles in a folder: by part, and the busiest functions including their native calls. @throws
 * if there is none.
 */
export function readProfiles(folder: string): { parts: Share[]; functions: Share[] } {
  const files = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))
  if (files.length === 0) throw new Error(`there is no profile in ${folder}`)
  const [parts, functions] = [new Map<string, number>(), new Map<string, number>()]
  const locate = locator()
  for (const file of files) {
    const { nodes, samples, timeDeltas } = Profile.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')))
    const parents = new Map(
      nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
    )
    const times = new Map<number, number>()
    for (const [index, id] of samples.entries())
      times.set(id, (times.get(id) ?? 0) + timeDeltas[index]! / 1_000)
    for (const node of nodes) {
      const ms = times.get(node.id) ?? 0
      if (ms === 0 || node.callFrame.functionName === idle) continue
      const part = partOf(node, parents, locate)
      if (part === profiler) continue
      add(parts, part, ms)
      add(functions, `${node.callFrame.functionName || '(anonymous)'} (${part})`, ms)
    }
  }
  return { parts: toShares(parts), functions: toShares(functions) }
}

type Locate = (frame: z.output<typeof Frame>) => string

/** Native code counts for its caller: for Kysely, that is SQLite including its waits for the disk. */
function partOf(node: Node, parents: ReadonlyMap<number, Node>, locate: Locate): string {
  if (node.callFrame.functionName.startsWith('(')) return node.callFrame.functionName
  let caller: Node | undefined = node
  while (caller && caller.callFrame.url === '') caller = parents.get(caller.id)
  if (!caller) return '(native)'
  const name = locate(caller.callFrame)
  return caller === node || name.startsWith('Node: ') ? name : `${name}, native`
}

/** The part of the program that a function belongs to. */
function locator(): Locate {
  const sourceOf = openSources()
  return ({ url, lineNumber, columnNumber }) =>
    url.startsWith('node:')
      ? `Node: ${url.replace(/^node:(internal\/)?/, '').split('/')[0]}`
      : nameOf(sourceOf({ url, line: lineNumber, column: columnNumber }).path)
}

/** The package of a file, or the folder in this repository. */
function nameOf(path: string): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  return inPackage ?? /(?:^|\/)(src\/[^/]+(?:\/[^/.]+)?|daemon)\//.exec(path)?.[1] ?? path.split('/').at(-1)!
}

function add(sums: Map<string, number>, name: string, ms: number): void {
  sums.set(name, (sums.get(name) ?? 0) + ms)
}

function toShares(sums: ReadonlyMap<string, number>): Share[] {
  const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0)
  return Array.from(sums, ([name, ms]) => ({ name, ms, share: ms / total })).toSorted(
    (one, other) => other.ms - one.ms,
  )
}

/** Shares as Markdown. Shares below one percent are summed up. */
export function toShareTable(title: string, shares: readonly Share[]): string {
  const [large, small] = [
    shares.filter(({ share }) => share >= 0.01),
    shares.filter(({ share }) => share < 0.01),
  ]
  const rest = { name: 'the rest', share: small.reduce((sum, { share }) => sum + share, 0) }
  const rows = [...large, rest].map(({ name, share }) => `| ${name} | ${(share * 100).toFixed(1)} % |`)
  return [`| ${title} | share |`, '|---|--:|', ...rows].join('\n')
}
