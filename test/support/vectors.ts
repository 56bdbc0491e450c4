/** Published test vectors (`fixtures/vectors`). */
import { readFileSync } from 'node:fs'

/** The members that every vector has. */
export type PublishedVector = { id: string; kind: string; expect: 'ok' | 'reject' | 'either' }

/** Reads a file of `fixtures/vectors`, named without `.json`. */
export function readPublished(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../fixtures/vectors/${name}.json`, import.meta.url), 'utf8'))
}

/** Vectors for `test.each`, each with its id: `%s` puts it into the test's name. */
export function named<Vector extends PublishedVector>(
  vectors: readonly Vector[],
): [name: string, vector: Vector][] {
  return vectors.map((vector) => [vector.id, vector])
}
