/** An independent parser of Prometheus' text format 0.0.4, which accepts nothing that Prometheus would not. */

/** A value by the text of its labels (`a="1",b="2"`, in the order of the text; `''` for none). */
export type Family = {
  type: string
  help: string
  samples: { name: string; labels: string; value: number }[]
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
// Prometheus reads numbers as Go does, in any case; prom-client writes `Nan`.
const sampleLine = new RegExp(
  `^(${name})(?:\\{(${label}(?:,${label})*)?\\})? ([+-]?(?:Inf|\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)|NaN|Nan)$`,
)
const parts: Readonly<Record<string, string[]>> = { histogram: ['_bucket', '_sum', '_count'] }

/** Parses a scrape. @throws when a line is not of the format, or stands where it must not */
export function parseMetrics(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let current: [string, Family] | undefined
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, kind, of, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(of!)) throw new Error(`${of} comes twice`)
      current = [of!, { type: '', help: rest!, samples: [] }]
      families.set(...current)
    } else if (kind === 'TYPE') {
      if (current?.[0] !== of || current![1].type !== '') throw new Error(`the type of ${of} is elsewhere`)
      current![1].type = rest!
    } else if (line !== '') {
      const [, sample, labels = '', value] = sampleLine.exec(line) ?? []
      if (sample === undefined || !current) throw new Error(`not a line of the format: ${line}`)
      const [family, { type, samples }] = current
      if (!(parts[type] ?? ['']).some((part) => sample === family + part))
        throw new Error(`${line} in ${family}`)
      if (samples.some((each) => each.name === sample && each.labels === labels))
        throw new Error(`twice: ${line}`)
      samples.push({ name: sample, labels, value: value === '+Inf' ? Infinity : Number(value) })
    }
  }
  for (const [family, { type, samples }] of families) if (type === 'histogram') checkBuckets(family, samples)
  return families
}

/** The buckets of a histogram are cumulative, and the last one has all observations. */
function checkBuckets(family: string, samples: Family['samples']): void {
  let last = 0
  for (const { name: sample, labels, value } of samples) {
    if (sample.endsWith('_bucket')) {
      if (value < last) throw new Error(`a bucket of ${family} is smaller than the one before: ${labels}`)
      last = value
    } else if (sample.endsWith('_count')) {
      if (value !== last) throw new Error(`the last bucket of ${family} has not all observations: ${labels}`)
      last = 0
    }
  }
}

/** The labels of a sample. */
export function labelsOf(labels: string): Record<string, string> {
  return Object.fromEntries(
    [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key!, value!]),
  )
}

/** The sum of a metric's samples whose labels have these values. */
export function sumOf(
  families: Map<string, Family>,
  metric: string,
  wanted: Record<string, string> = {},
): number {
  const family = families.get(metric.replace(/_(?:bucket|sum|count)$/, '')) ?? families.get(metric)
  const fits = (labels: string) => {
    const known = labelsOf(labels)
    return Object.entries(wanted).every(([key, value]) => known[key] === value)
  }
  return family!.samples
    .filter((each) => each.name === metric && fits(each.labels))
    .reduce((sum, { value }) => sum + value, 0)
}
