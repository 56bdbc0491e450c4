/**
 * The parts of docs/reference/benchmarks.md with recorded results: fewer figures than in the files, so that
 * the page can be read at once. `npm run bench -- <names>` prints all figures of a scenario.
 */
import { fullFlow } from './way/_figures.ts'
import {
  figureNames,
  toCells,
  toHeading,
  toLines,
  toMarkdown,
  type FigureName,
  type Results,
  type Row,
  type Table,
} from './_results.ts'

type Section = {
  title: string
  /** The beginning of the names of its scenarios. */
  scenarios: string
  figures: FigureName[]
  isShown?: (row: Row) => boolean
}

const isOwn = ({ name, figures }: Row) => !name.startsWith('bare ') && figures.concurrency !== 64
const openId: FigureName[] = ['concurrency', 'perSecond', 'p50', 'p99', 'cpuRatio']

/** Scenarios outside of these have their whole tables on the page. */
const sections: Section[] = [
  {
    title: 'Flows of two daemons',
    scenarios: 'flows/',
    figures: ['tenants', 'concurrency', 'perSecond', 'p50', 'p99', 'cpuMs', 'cpuRatio', 'megabytes'],
    isShown: ({ name, figures: { tenants, concurrency } }) =>
      concurrency !== 64 && (name === 'full' || (concurrency === 16 && tenants === 1)),
  },
  { title: 'Issuance over OpenID4VCI', scenarios: 'oid4vci', figures: openId, isShown: isOwn },
  { title: 'Verification over OpenID4VP', scenarios: 'oid4vp', figures: openId, isShown: isOwn },
  { title: 'Start of a command', scenarios: 'start', figures: ['ms', 'cpuRatio'] },
  {
    title: 'Start of the daemon, and its memory when idle',
    scenarios: 'daemon',
    figures: ['ms', 'megabytes'],
  },
  {
    title: 'Answers of a daemon while it makes keys of credential definitions',
    scenarios: 'creddef',
    figures: ['p50', 'p99', 'requestMax'],
  },
  {
    title: 'A page of 100 from 100,000 records, next to one from 600',
    scenarios: 'growth/lists',
    figures: ['p50', 'p99', 'cpuRatio'],
    isShown: ({ name }) => !name.endsWith('first page'),
  },
  ...['growth/flow', 'huge/flow'].map((scenarios) => ({
    title: 'A full flow in a large store, next to an empty one',
    scenarios,
    figures: ['perSecond', 'p50', 'cpuRatio', 'megabytes'] as FigureName[],
    isShown: ({ figures }: Row) => figures.cpuRatio !== undefined,
  })),
  {
    title: 'A full flow, next to other agents',
    scenarios: 'peers/',
    figures: ['concurrency', 'perSecond', 'p50', 'cpuMs', 'cpuRatio'],
    isShown: ({ figures }) => figures.concurrency === 16,
  },
]

/** The part of the page with times: the runs with their scenarios, then the results. */
export function recordedPart(results: Results): string {
  const run = toHeading(results)
  const runs = [...new Set([run, ...results.tables.flatMap((table) => table.run ?? [])])]
  const namesOf = (each: string) =>
    results.tables.filter((table) => (table.run ?? run) === each).map(({ scenario }) => scenario)
  const headings = runs.map((each) => `- ${each}: ${[...new Set(namesOf(each))].join(', ')}`)
  const operations = results.tables.filter(isOperation)
  const others = results.tables.filter((table) => !isOperation(table))
  const parts = [
    headings.join('\n'),
    ...(results.failures.length > 0
      ? [results.failures.map((failure) => `- Failed: ${failure}`).join('\n')]
      : []),
    ...(operations.length > 0 ? [operationsTable(operations)] : []),
    ...sectionsOf(others),
  ]
  return `\n${parts.join('\n\n')}\n\n`
}

const isOperation = ({ rows }: Table) => rows.every(({ figures }) => figures.microseconds !== undefined)

/** One line for each operation of this agent, with its CPU ratio to the bare steps and to other packages. */
function operationsTable(tables: readonly Table[]): string {
  const lines = tables.flatMap(({ title, rows }) => {
    const others = rows.filter(({ figures }) => figures.cpuRatio !== undefined)
    const [bare = '', ...rest] = others.map((row) => `${toCells(row, ['cpuRatio'])[0]} ${row.name}`)
    const packages = rest.filter((text) => !/^\S+ (bare|the same) /.test(text)).join('; ')
    return rows
      .filter((row) => !others.includes(row) && row.name !== 'from the cache')
      .map((row) => [
        row.name === 'identity-agent' ? title : `${title}: ${row.name}`,
        ...toCells(row, ['perSecond']),
        bare.split(' ')[0]!,
        packages,
      ])
  })
  return toLines('Operations', ['', 'a second', 'CPU ratio to bare steps', 'to packages'], lines)
}

/** The tables of the sections in the order of the scenarios, those with one title as one table. */
function sectionsOf(tables: readonly Table[]): string[] {
  const merged = new Map<string, { figures: FigureName[]; rows: Row[] }>()
  for (const table of tables) {
    const { title, figures, isShown } = sections.find(({ scenarios }) =>
      table.scenario.startsWith(scenarios),
    ) ?? {
      title: table.title,
      figures: figureNames,
    }
    const rows = isShown ? table.rows.filter(isShown) : table.rows
    merged.set(title, { figures, rows: [...(merged.get(title)?.rows ?? []), ...rows] })
  }
  return Array.from(merged, ([title, { figures, rows }]) => toMarkdown({ title, rows }, figures))
}

/** The part of the page with the counts of the whole flow, this agent's and those of the bare composition. */
export function countsPart(counted: Results): string {
  const rows = counted.tables.slice(0, 2).map((table, index) => ({
    ...table.rows.find(({ name }) => name === fullFlow)!,
    name: index === 0 ? 'this agent' : 'the bare composition',
  }))
  return `\n${toHeading(counted)}.\n\n${toMarkdown({ title: 'Work of a full flow', rows })}\n\n`
}
