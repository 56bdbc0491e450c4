/**
 * The metrics of an agent (`metric-table.ts`): numbers in memory that the agent counts, and functions that
 * read a number when it is asked for.
 *
 * Counting is an addition in a map. `snapshot` is what a scrape reads. All numbers begin at 0 with the
 * process.
 */
import { metricTable, type Definition } from './metric-table.ts'

type Table = typeof metricTable
export type MetricName = keyof Table
type NamesOf<Type> = { [N in MetricName]: Table[N]['type'] extends Type ? N : never }[MetricName]
export type GaugeName = NamesOf<'gauge'>

type ValueOf<Values> = Values extends readonly (infer Value extends string)[] ? Value : string
export type LabelsOf<N extends MetricName> = {
  readonly [L in keyof Table[N]['labels']]: ValueOf<Table[N]['labels'][L]>
}

type Labels = Readonly<Record<string, string>>

export type Reading = { labels: Labels; value: number }

/**
 * The values of one metric; `name` differs from the metric's in the parts of a histogram: `_bucket`, `_sum`,
 * `_count`.
 */
export type Snapshot = Pick<Definition, 'type' | 'help'> & {
  name: MetricName
  values: (Reading & { name: string })[]
}

/**
 * A counter has `sum` only. `buckets` are the observations up to each bound, not those up to smaller ones;
 * the last one has no bound.
 */
type Series = { labels: Labels; sum: number; buckets: number[] }

/** An increment that belongs to a transaction: its commit adds it. */
export type Count = {
  readonly [N in NamesOf<'counter'>]: readonly [name: N, labels: LabelsOf<N>]
}[NamesOf<'counter'>]

type Read = () => number | readonly Reading[] | Promise<number | readonly Reading[]>

/** A metric with more combinations of label values begins its series with use: most of them would stay empty. */
const maxBegun = 20

export class Metrics {
  readonly #series = new Map<MetricName, Map<string, Series>>()
  readonly #reads = new Map<MetricName, Read>()
  readonly #isOn: boolean

  /** Counts nothing if `isOn` is false. */
  constructor(isOn: boolean) {
    this.#isOn = isOn
    if (!isOn) return
    for (const [name, { type, labels }] of Object.entries(metricTable) as [MetricName, Definition][]) {
      const all = type === 'gauge' ? [] : combinations(labels)
      // A series that begins with its first increment hides this increment from `rate` and `increase`.
      if (all.length <= maxBegun) for (const each of all) this.#seriesOf(name, each)
    }
  }

  add<N extends NamesOf<'counter'>>(name: N, labels: LabelsOf<N>, by = 1): void {
    if (this.#isOn) this.#seriesOf(name, labels).sum += by
  }

  addAll(counts: readonly Count[]): void {
    for (const [name, labels] of counts) this.add(name, labels)
  }

  /** Adds an observation, in the unit of the name, to a histogram. */
  observe<N extends NamesOf<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void {
    if (!this.#isOn) return
    const series = this.#seriesOf(name, labels)
    const bounds: readonly number[] = metricTable[name].buckets
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++
    series.buckets[bucket]! += 1
    series.sum += value
  }

  set(name: GaugeName, value: number): void {
    this.read(name, () => value)
  }

  /** Has each scrape read the values of a metric. */
  read(name: NamesOf<'gauge' | 'counter'>, read: Read): void {
    if (this.#isOn) this.#reads.set(name, read)
  }

  /** All metrics with their values, in the order of the table. */
  snapshot(): Promise<Snapshot[]> {
    const names = Object.keys(metricTable) as MetricName[]
    return Promise.all(
      names.map(async (name) => {
        const { type, help } = metricTable[name]
        const read = this.#reads.get(name)
        const counted = [...(this.#series.get(name)?.values() ?? [])]
        const values = read
          ? (await readAll(read)).map((reading) => ({ name, ...reading }))
          : counted.flatMap((series) => toValues(name, series))
        return { name, type, help, values }
      }),
    )
  }

  #seriesOf(name: MetricName, labels: Labels): Series {
    let all = this.#series.get(name)
    if (!all) this.#series.set(name, (all = new Map()))
    const { labels: known, buckets }: Definition = metricTable[name]
    let key = ''
    for (const label in known) key += `${labels[label]}\n`
    let series = all.get(key)
    if (!series) {
      series = { labels: { ...labels }, sum: 0, buckets: buckets ? Array(buckets.length + 1).fill(0) : [] }
      all.set(key, series)
    }
    return series
  }
}

/** All combinations of label values; none if a label takes its values from the code. */
function combinations(labels: Definition['labels']): Record<string, string>[] {
  let all: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels))
    all = values === 'any' ? [] : all.flatMap((each) => values.map((value) => ({ ...each, [label]: value })))
  return all
}

/** The values that a function reads. None if it fails: other metrics are wanted all the more then. */
async function readAll(read: Read): Promise<readonly Reading[]> {
  try {
    const result = await read()
    return typeof result === 'number' ? [{ labels: {}, value: result }] : result
  } catch {
    return []
  }
}

/** The lines of a series. The buckets of a histogram are cumulative there. */
function toValues(name: MetricName, { labels, sum, buckets }: Series): Snapshot['values'] {
  const { buckets: bounds }: Definition = metricTable[name]
  if (!bounds) return [{ name, labels, value: sum }]
  let count = 0
  const lines = buckets.map((observed, index) => ({
    name: `${name}_bucket`,
    labels: { ...labels, le: String(bounds[index] ?? '+Inf') },
    value: (count += observed),
  }))
  return [
    ...lines,
    { name: `${name}_sum`, labels, value: sum },
    { name: `${name}_count`, labels, value: count },
  ]
}
