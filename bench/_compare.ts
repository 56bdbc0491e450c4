/** Compares two result files, and the ratios of one run with the recorded ones. */
import { figureNames, figureOf, type FigureName, type Results, type Row, type Table } from './_results.ts'

/**
 * A ratio is reported if it exceeds the recorded one by more than this factor: the variation on a busy
 * machine.
 */
export const tolerance = 1.35

export type Difference = {
  title: string
  row: string
  figure: FigureName
  before: number
  after: number
  /** after ÷ before. */ change: number
}

/** Compares every figure that both files have. Tables with different rows are compared where their rows agree. */
export function compare(before: Results, after: Results): Difference[] {
  return after.tables.flatMap((table) => {
    const earlier = before.tables.find(({ title }) => title === table.title)
    return earlier ? compareTables(earlier, table) : []
  })
}

function compareTables(before: Table, after: Table): Difference[] {
  return after.rows.flatMap((row) => {
    const earlier = before.rows.find((each) => keyOf(each) === keyOf(row))
    if (!earlier) return []
    return figureNames
      .filter((figure) => figureOf(figure).better)
      .flatMap((figure) => {
        const [from, to] = [earlier.figures[figure], row.figures[figure]]
        return from === undefined || to === undefined
          ? []
          : [{ title: after.title, row: keyOf(row), figure, before: from, after: to, change: to / from }]
      })
  })
}

/** A row is identified by its name and its parameters. */
function keyOf({ name, figures: { tenants, concurrency } }: Row): string {
  const asked = [
    tenants === undefined ? [] : `${tenants} tenants`,
    concurrency === undefined ? [] : `${concurrency} at once`,
  ].flat()
  return asked.length > 0 ? `${name} (${asked.join(', ')})` : name
}

/**
 * Lists the CPU ratios that exceed the recorded ones by more than the tolerance. Times depend on the machine
 * and its load, and are not compared.
 */
export function findRegressions(recorded: Results, now: Results): Difference[] {
  return compare(recorded, now).filter(({ figure, change }) => figureOf(figure).isHeld && change > tolerance)
}

/** Differences as Markdown. A ratio below 1 is an improvement. */
export function toComparison(differences: readonly Difference[]): string {
  const number = (value: number, figure: FigureName) =>
    value.toLocaleString('en', { maximumFractionDigits: Math.max(1, figureOf(figure).digits) })
  const rows = differences.map(
    ({ title, row, figure, before, after, change }) =>
      `| ${title}: ${row} | ${figureOf(figure).heading} | ${number(before, figure)} | ${number(after, figure)} | ${change.toFixed(2)} | ${verdictOf(figure, change)} |`,
  )
  return ['| | figure | before | after | after ÷ before | |', '|---|---|--:|--:|--:|---|', ...rows].join('\n')
}

/** Two runs of the same code differ by a tenth. */
function verdictOf(figure: FigureName, change: number): string {
  const worse = figureOf(figure).better === 'more' ? 1 / change : change
  if (worse > 1.1) return 'worse'
  return worse < 1 / 1.1 ? 'better' : ''
}
