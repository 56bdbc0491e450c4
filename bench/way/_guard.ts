/** Compares the counts of a full flow with the recorded ones. */
import { figureOf, type FigureName, type Row } from '../_results.ts'
import { fullFlow } from './_figures.ts'

/**
 * The counts that two runs of the same code agree on within 2 % on an idle machine. On a busy one, they grow:
 * outcomes of webhooks come apart then, and have commits of their own. The others depend on timing
 * everywhere: writes that can wait join the commits of others, and one read of a socket may have the data of
 * several writes.
 */
const guarded = [
  'calls',
  'functions',
  'sourceFiles',
  'packageCalls',
  'promises',
  'statements',
  'pages',
  'flushes',
  'parsed',
  'parsedKb',
  'produced',
  'producedKb',
  'heapKb',
] as const satisfies FigureName[]

const tolerance = 1.05

/**
 * The counts of the whole flow that have grown by more than 5 %, as texts with the steps in which each has
 * grown.
 */
export function findGrown(recorded: readonly Row[], now: readonly Row[]): string[] {
  const of = (rows: readonly Row[], step: string, figure: FigureName) =>
    rows.find(({ name }) => name === step)?.figures[figure] ?? 0
  const change = (step: string, figure: FigureName) => {
    const [before, after] = [of(recorded, step, figure), of(now, step, figure)]
    return { step, before, after, text: `${number(before)} before, ${number(after)} now` }
  }
  return guarded.flatMap((figure) => {
    const whole = change(fullFlow, figure)
    if (whole.after <= whole.before * tolerance) return []
    const grown = now
      .map(({ name }) => change(name, figure))
      .filter(({ step, before, after }) => step !== fullFlow && after > before)
      .toSorted((a, b) => b.after - b.before - (a.after - a.before))
    return [
      `${labelOf(figure)} of a full flow: ${whole.text}`,
      ...grown.map(({ step, text }) => `  ${step}: ${text}`),
    ].join('\n')
  })
}

/** How to accept or to examine the growth. */
export const advice =
  '`npm run bench -- way` also lists functions, statements and places. If the growth is intended: npm run build && npm run bench -- way --record'

function labelOf(figure: FigureName): string {
  const labels: Partial<Record<FigureName, string>> = {
    parsedKb: 'kB of JSON parsed',
    producedKb: 'kB of JSON produced',
  }
  return labels[figure] ?? figureOf(figure).heading
}

function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 })
}
