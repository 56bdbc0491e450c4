/** The results of a run, for the terminal, for files and for comparisons. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'

type Figure = {
  heading: string
  digits: number
  /** The better direction. A figure without it only describes the measurement. */
  better?: 'more' | 'less'
  /** True for a ratio of CPU times of the same run, which is comparable between runs and machines. */
  isHeld?: true
}

/** All figures that a row can have. */
export const figures = {
  tenants: { heading: 'tenants', digits: 0 },
  concurrency: { heading: 'at once', digits: 0 },
  flowsBefore: { heading: 'flows before', digits: 0 },
  perSecond: { heading: 'a second', digits: 1, better: 'more' },
  ms: { heading: 'ms', digits: 1, better: 'less' },
  p50: { heading: 'p50 ms', digits: 1, better: 'less' },
  p95: { heading: 'p95', digits: 1, better: 'less' },
  p99: { heading: 'p99', digits: 1, better: 'less' },
  microseconds: { heading: 'CPU µs', digits: 1, better: 'less' },
  cpuMs: { heading: 'CPU ms', digits: 1, better: 'less' },
  mainMs: { heading: 'main thread ms', digits: 1, better: 'less' },
  databaseMs: { heading: 'database CPU ms', digits: 1, better: 'less' },
  seconds: { heading: 'seconds', digits: 1, better: 'less' },
  connections: { heading: 'connections', digits: 0 },
  bareCpuMs: { heading: 'bare CPU ms', digits: 1 },
  ratio: { heading: 'time ratio', digits: 2, better: 'less' },
  cpuRatio: { heading: 'CPU ratio', digits: 2, better: 'less', isHeld: true },
  mainRatio: { heading: 'main thread ratio', digits: 2, better: 'less' },
  databaseRatio: { heading: 'database ratio', digits: 2, better: 'less' },
  goal: { heading: 'goal', digits: 2 },
  loopP99: { heading: 'loop p99 ms', digits: 1, better: 'less' },
  loopMax: { heading: 'loop max', digits: 1, better: 'less' },
  requestMax: { heading: 'slowest request ms', digits: 0, better: 'less' },
  webhooks: { heading: 'webhooks', digits: 1 },
  megabytes: { heading: 'MB', digits: 1, better: 'less' },
  kilobytesEach: { heading: 'kB each', digits: 1, better: 'less' },
  calls: { heading: 'calls', digits: 0, better: 'less' },
  functions: { heading: 'functions', digits: 0, better: 'less' },
  sourceFiles: { heading: 'files', digits: 0, better: 'less' },
  packageCalls: { heading: 'calls in packages', digits: 0, better: 'less' },
  promises: { heading: 'promises', digits: 0, better: 'less' },
  statements: { heading: 'SQL', digits: 0, better: 'less' },
  commits: { heading: 'commits', digits: 0, better: 'less' },
  pages: { heading: 'pages', digits: 0, better: 'less' },
  flushes: { heading: 'flushes', digits: 0, better: 'less' },
  parsed: { heading: 'JSON parsed', digits: 0, better: 'less' },
  parsedKb: { heading: 'kB', digits: 1, better: 'less' },
  produced: { heading: 'JSON produced', digits: 0, better: 'less' },
  producedKb: { heading: 'kB', digits: 1, better: 'less' },
  heapKb: { heading: 'heap kB', digits: 0, better: 'less' },
  reads: { heading: 'reads', digits: 0, better: 'less' },
  writes: { heading: 'writes', digits: 0, better: 'less' },
  turns: { heading: 'turns', digits: 0, better: 'less' },
  times: { heading: 'times', digits: 1, better: 'less' },
  kilobytes: { heading: 'kB', digits: 1, better: 'less' },
  failed: { heading: 'failed', digits: 0, better: 'less' },
} as const satisfies Record<string, Figure>

export type FigureName = keyof typeof figures

export const figureNames = Object.keys(figures) as FigureName[]

export function figureOf(name: FigureName): Figure {
  return figures[name]
}

const Row = z.object({ name: z.string(), figures: z.partialRecord(z.enum(figureNames), z.number()) })
export type Row = z.output<typeof Row>

const Table = z.object({
  scenario: z.string(),
  title: z.string(),
  rows: z.array(Row),
  /** The run of this table as one line, if it is not the file's. */
  run: z.string().optional(),
})
export type Table = z.output<typeof Table>

/** A result file; `load` is the one-minute load of the machine before and after. */
export const Results = z.object({
  date: z.iso.datetime(),
  revision: z.string(),
  quick: z.boolean(),
  node: z.string(),
  cpu: z.string(),
  cores: z.int(),
  memoryMb: z.int(),
  /** The kind of file system of `TMPDIR`. In memory, a commit does not wait. */
  files: z.enum(['on disk', 'in memory']),
  load: z.object({ before: z.number(), after: z.number() }),
  tables: z.array(Table),
  failures: z.array(z.string()),
})
export type Results = z.output<typeof Results>

/** Reads a file that `--json` wrote. @throws if it does not exist or has another format. */
export function readResults(path: string): Results {
  const read = Results.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (!read.success) throw new Error(`${path} is not a file of results: ${z.prettifyError(read.error)}`)
  return read.data
}

/** A table as Markdown, with those of the figures that its rows have. */
export function toMarkdown(
  { title, rows }: Pick<Table, 'title' | 'rows'>,
  shown: readonly FigureName[] = figureNames,
): string {
  const used = shown.filter((name) => rows.some((row) => row.figures[name] !== undefined))
  const headings = used.map((name) => figures[name].heading)
  return toLines(
    title,
    ['', ...headings],
    rows.map((row) => [row.name, ...toCells(row, used)]),
  )
}

/** The texts of figures of a row; empty for those that it does not have. */
export function toCells(row: Row, names: readonly FigureName[]): string[] {
  return names.map((name) => row.figures[name]?.toLocaleString('en', digits(name)) ?? '')
}

/** A table of texts as Markdown; all columns but the first are numbers. */
export function toLines(title: string, headings: readonly string[], rows: readonly string[][]): string {
  const line = (texts: readonly string[]) => `| ${texts.join(' | ')} |`
  const border = `|---|${'--:|'.repeat(headings.length - 1)}`
  return [`### ${title}`, '', line(headings), border, ...rows.map(line)].join('\n')
}

/** The circumstances of a run, in one line. */
export function toHeading({
  date,
  revision,
  quick,
  node,
  cpu,
  cores,
  memoryMb,
  files,
  load,
}: Results): string {
  const machine = `Node ${node} on ${cores} × ${cpu}, ${(memoryMb / 1_024).toFixed(0)} GB, files ${files}`
  return `${date.slice(0, 10)}, ${revision}${quick ? ', quick' : ''}: ${machine}, load ${load.before.toFixed(1)} before and ${load.after.toFixed(1)} after`
}

function digits(name: FigureName): { minimumFractionDigits: number; maximumFractionDigits: number } {
  return { minimumFractionDigits: figures[name].digits, maximumFractionDigits: figures[name].digits }
}
