/** Published test vectors, where they are at hand, and a table in the test output of what became of them. */
import { existsSync, readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

/** The vectors that every file holds a list of. */
export type PublishedVector = { id: string; kind: string; expect: 'ok' | 'reject' | 'either' }

/** What is in a file of published vectors, named without `.json`; nothing where the files are not. */
export function readPublished(name: string): unknown {
  const file = new URL(`../../shared/vectors/${name}.json`, import.meta.url)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** Vectors for `test.each`, each with its name for the test's: `%s` gives it in full. */
export function named<Vector extends PublishedVector>(
  vectors: readonly Vector[],
): [name: string, vector: Vector][] {
  return vectors.map((vector) => [vector.id, vector])
}

/** What became of a vector: taken, refused, or neither of what its publisher expects, with the reason. */
export type Outcome = 'accepted' | 'refused' | { exception: string }

/** How many exceptions of one reason are named below the table. */
const shownExceptions = 5

export type TallyOptions<Vector, Direction> = {
  title: string
  vectors: readonly Vector[]
  /** The algorithm, or whatever else a row is about. */
  groupOf: (vector: Vector) => string
  /** The names of both ways, the one that reads first. */
  directions: readonly [Direction, Direction]
  /** Why no test can run a vector. */
  leftOut: (vector: Vector) => string | undefined
}

/**
 * Counts what ran, for a table at the end of the test file: a test calls what it is given here as its last step, so that
 * a vector whose test fails, or is not run, is missing in its row.
 */
export function tally<Vector extends PublishedVector, Direction extends string>(
  options: TallyOptions<Vector, Direction>,
) {
  const notes: { vector: Vector; direction: Direction; outcome: Outcome | undefined }[] = []
  afterAll(() => {
    if (notes.length > 0) process.stdout.write(`\n${table()}\n`)
  })

  function table(): string {
    const { title, vectors, groupOf, directions, leftOut } = options
    const reasons = new Map<Vector, string>()
    for (const vector of vectors) {
      const reason = leftOut(vector)
      if (reason !== undefined) reasons.set(vector, reason)
    }
    for (const { vector, outcome } of notes)
      if (typeof outcome === 'object') reasons.set(vector, outcome.exception)

    const row = (name: string, of: readonly Vector[]) => {
      const count = (is: (note: (typeof notes)[number]) => boolean) =>
        new Set(notes.filter((note) => of.includes(note.vector) && is(note)).map(({ vector }) => vector)).size
      const counts = [
        of.length,
        count(({ outcome }) => outcome === 'accepted'),
        count(({ outcome }) => outcome === 'refused'),
        ...directions.map((wanted) => count(({ direction }) => direction === wanted)),
        of.filter((vector) => reasons.has(vector)).length,
      ]
      return `| ${[name, ...counts].join(' | ')} |`
    }
    const groups = [...new Set(vectors.map(groupOf))]
    const exceptions = [...new Set(reasons.values())].map((reason) => {
      const ids = [...reasons].flatMap(([{ id }, given]) => (given === reason ? [id] : []))
      const more = ids.length - shownExceptions
      return `${reason}: ${ids.slice(0, shownExceptions).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    })
    return [
      `| ${[title, 'vectors', 'good accepted', 'bad refused', ...directions, 'exceptions'].join(' | ')} |`,
      `|---|${'--:|'.repeat(6)}`,
      ...groups.map((group) =>
        row(
          group,
          vectors.filter((vector) => groupOf(vector) === group),
        ),
      ),
      row('all', vectors),
      ...exceptions,
    ].join('\n')
  }

  /** Notes what a test has seen a vector come to; nothing more than the direction for the second look at one. */
  return (vector: Vector, direction: Direction, outcome?: Outcome): void =>
    void notes.push({ vector, direction, outcome })
}
