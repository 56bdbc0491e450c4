/** Two files of results next to each other, and the ratios of one held against the recorded ones. */
import { figureNames, figureOf, type FigureName, type Results, type Row, type Table } from './_results.ts'

/** How much worse a ratio may be than the recorded one before it is named: what a run on a busy machine is off by. */
export const tolerance = 1.35

export type Difference = {
  title: string
  row: string
  figure: FigureName
  before: number
  after: number
  /** after ÷ before. */ change: number
}

/** Every figure that both have, in their order; a table that was measured with other rows is compared where they agree. */
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

/** A row is told by its name and by what was asked of it. */
function keyOf({ name, figures: { tenants, concurrency } }: Row): string {
  const asked = [
    tenants === undefined ? [] : `${tenants} tenants`,
    concurrency === undefined ? [] : `${concurrency} at once`,
  ].flat()
  return asked.length > 0 ? `${name} (${asked.join(', ')})` : name
}

/** The ratios of processor time that are worse than the recorded ones by more than the tolerance. Times are not compared: they are another machine's, or that of another load. */
export function findRegressions(recorded: Results, now: Results): Difference[] {
  return compare(recorded, now).filter(({ figure, change }) => figureOf(figure).isHeld && change > tolerance)
}

/** Differences as Markdown: a ratio under 1 is less than before. */
export function toComparison(differences: readonly Difference[]): string {
  const number = (value: number, figure: FigureName) =>
    value.toLocaleString('en', { maximumFractionDigits: Math.max(1, figureOf(figure).digits) })
  const rows = differences.map(
    ({ title, row, figure, before, after, change }) =>
      `| ${title}: ${row} | ${figureOf(figure).heading} | ${number(before, figure)} | ${number(after, figure)} | ${change.toFixed(2)} | ${verdictOf(figure, change)} |`,
  )
  return ['| | figure | before | after | after ÷ before | |', '|---|---|--:|--:|--:|---|', ...rows].join('\n')
}

/** A tenth is what two runs of the same code differ by. */
function verdictOf(figure: FigureName, change: number): string {
  const worse = figureOf(figure).better === 'more' ? 1 / change : change
  if (worse > 1.1) return 'worse'
  return worse < 1 / 1.1 ? 'better' : ''
}
