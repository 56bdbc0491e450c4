/** Measuring: how often a piece of work can be done in a second, next to others in the same run. */

/** A piece of work; `once` does it one time. */
export type Work = { name: string; once: () => unknown }

export type Result = { name: string; perSecond: number }

/** Rounds, taken by turns by all works, so that a machine that slows down slows all of them. */
const rounds = 5
const roundMs = 400

/** Measures works against each other; the best round of each counts, the others were disturbed. */
export async function measure(works: readonly Work[]): Promise<Result[]> {
  const best = new Map(works.map(({ name }) => [name, 0]))
  for (const work of works) await runFor(work, 100)
  for (let round = 0; round < rounds; round++) {
    for (const work of works) best.set(work.name, Math.max(best.get(work.name)!, await runFor(work, roundMs)))
  }
  return works.map(({ name }) => ({ name, perSecond: Math.round(best.get(name)!) }))
}

async function runFor({ once }: Work, milliseconds: number): Promise<number> {
  const start = performance.now()
  let count = 0
  while (performance.now() - start < milliseconds) {
    for (let n = 0; n < 10; n++) {
      const result = once()
      if (result instanceof Promise) await result
    }
    count += 10
  }
  return (count * 1_000) / (performance.now() - start)
}

/** Results as a table; ratios to the first of them. */
export function toTable(title: string, results: readonly Result[]): string {
  const first = results[0]!.perSecond
  const rows = results.map(({ name, perSecond }) => `| ${name} | ${perSecond.toLocaleString('en')} | ${(perSecond / first).toFixed(2)} |`)
  return [`### ${title}`, '', '| | per second | ratio |', '|---|--:|--:|', ...rows].join('\n')
}
