/** Sums up the work of processes: figures of a step, and lists of its functions, statements and places. */
import { openOffsets, openSources, type Source } from '../_sources.ts'
import type { Resources, Step, Work } from './_counts.ts'

/** A step, or a whole flow. */
export type Figures = Record<string, number>

const kilobyte = 1_024

const at = openOffsets()
const sourceOf = openSources()

/** A file of the project as its path in the repository, or a package by its name. */
function nameOf(path: string): { file: string } | { package: string } | undefined {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  if (inPackage) return { package: inPackage }
  const file = /(?:^|\/)((?:src|daemon|bench)\/.+)$/.exec(path)?.[1]
  return file && !file.startsWith('bench/way/') ? { file } : undefined
}

function placed({ path, line }: Source): string | undefined {
  const name = nameOf(path)
  return name && 'file' in name ? `${name.file}:${line}` : undefined
}

type Call = { name: string; file: string; count: number }

/** The calls of each function of the project, and of all functions of each package. */
function callsOf(works: readonly Work[]): { calls: Call[]; packages: { name: string; count: number }[] } {
  const calls = new Map<string, Call>()
  const packages = new Map<string, number>()
  for (const [url, offset, functionName, count] of works.flatMap(({ functions }) => functions)) {
    const source = sourceOf(at(url, offset))
    const owner = nameOf(source.path)
    if (owner && 'package' in owner) packages.set(owner.package, (packages.get(owner.package) ?? 0) + count)
    if (!owner || 'package' in owner) continue
    const name = `${owner.file}:${source.line} ${functionName || '(anonymous)'}`
    const known = calls.get(`${name} ${offset}`)
    if (known) known.count += count
    else calls.set(`${name} ${offset}`, { name, file: owner.file, count })
  }
  return {
    calls: [...calls.values()],
    packages: Array.from(packages, ([name, count]) => ({ name, count })),
  }
}

type List = Work['statements']
const count = (list: List) => list.reduce((sum, [, times]) => sum + times, 0)
const bytes = (list: List) => list.reduce((sum, [, , size]) => sum + size, 0)

/** The figures of the work of processes in one step or in several. */
export function figuresOfWork(works: readonly Work[]): Figures {
  const { calls, packages } = callsOf(works)
  const total = (all: readonly { count: number }[]) => all.reduce((sum, each) => sum + each.count, 0)
  const of = (name: 'statements' | 'promises' | 'parsed' | 'produced') => works.flatMap((work) => work[name])
  const sum = (name: 'commits' | 'frames' | 'flushes') => works.reduce((total, work) => total + work[name], 0)
  return {
    calls: total(calls),
    functions: calls.length,
    sourceFiles: new Set(calls.map(({ file }) => file)).size,
    packageCalls: total(packages),
    promises: count(of('promises')),
    statements: count(of('statements')),
    commits: sum('commits'),
    pages: sum('frames'),
    flushes: sum('flushes'),
    parsed: count(of('parsed')),
    parsedKb: bytes(of('parsed')) / kilobyte,
    produced: count(of('produced')),
    producedKb: bytes(of('produced')) / kilobyte,
  }
}

export function figuresOfResources(all: readonly Resources[]): Figures {
  const sum = (name: keyof Resources) => all.reduce((total, each) => total + each[name], 0)
  return {
    heapKb: sum('heapBytes') / kilobyte,
    reads: sum('reads'),
    writes: sum('writes'),
    turns: sum('turns'),
  }
}

export const fullFlow = 'full flow'

/** The medians of several flows, for each step and for the whole flow. */
export function mediansOf<Counts>(
  flows: readonly Step<Counts>[][],
  figuresOf: (counts: readonly Counts[]) => Figures,
): Map<string, Figures> {
  const rows = flows.map(
    (steps) =>
      new Map([
        ...steps.map(({ name, counts }) => [name, figuresOf(counts)] as const),
        [fullFlow, figuresOf(steps.flatMap(({ counts }) => counts))] as const,
      ]),
  )
  const medians = [...rows[0]!].map(([step, figures]) => {
    const median = (name: string) => {
      const values = rows.map((row) => row.get(step)![name]!).toSorted((a, b) => a - b)
      return values[Math.floor(values.length / 2)]!
    }
    return [step, Object.fromEntries(Object.keys(figures).map((name) => [name, median(name)]))] as const
  })
  return new Map(medians)
}

/** A name, and how often it occurs in a flow on average. */
export type Often = { name: string; times: number; kilobytes?: number }

/** Lists by frequency. */
export function listsOf(flows: readonly Step<Work>[][]) {
  const works = flows.flatMap((steps) => steps.flatMap(({ counts }) => counts))
  const perFlow = (entries: Iterable<{ name: string; count: number; bytes?: number }>): Often[] => {
    const sums = new Map<string, { count: number; bytes: number }>()
    for (const { name, count: times, bytes: size = 0 } of entries) {
      const sum = sums.get(name) ?? { count: 0, bytes: 0 }
      sums.set(name, { count: sum.count + times, bytes: sum.bytes + size })
    }
    return Array.from(sums, ([name, sum]) => ({
      name,
      times: sum.count / flows.length,
      ...(sum.bytes > 0 && { kilobytes: sum.bytes / kilobyte / flows.length }),
    })).toSorted((a, b) => b.times - a.times)
  }
  const entries = (
    name: 'statements' | 'promises' | 'parsed' | 'produced',
    nameIt: (key: string) => string,
  ) =>
    works.flatMap((work) =>
      work[name].map(([key, times, size]) => ({ name: nameIt(key), count: times, bytes: size })),
    )
  const { calls, packages } = callsOf(works)
  return {
    functions: perFlow(calls),
    packages: perFlow(packages),
    statements: perFlow(entries('statements', (sql) => sql)),
    promises: perFlow(entries('promises', callerOf)),
    parsed: perFlow(entries('parsed', callerOf)),
    produced: perFlow(entries('produced', callerOf)),
  }
}

/** The lowest frame of the project in a stack, and the package that it called. */
function callerOf(stack: string): string {
  let called: string | undefined
  for (const frame of stack.split(' ')) {
    const [, url, line, column] = /^(.*):(\d+):(\d+)$/.exec(frame) ?? []
    if (!url) continue
    const source = sourceOf({ url, line: Number(line) - 1, column: Number(column) - 1 })
    const place = placed(source)
    if (place) return called ? `${place} (${called})` : place
    const owner = nameOf(source.path)
    if (owner && 'package' in owner) called ??= owner.package
  }
  return called ?? 'Node.js'
}
