/** Finds the known word that a mistyped one is closest to. */

/**
 * Returns the known word that is closest to `given`; undefined when none is close. A prefix counts as a
 * match.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  return closest(known, (word) => typingErrors(given.toLowerCase(), word.toLowerCase()))
}

/** Returns the word with the smallest distance; undefined when every distance is infinite. */
export function closest(words: readonly string[], distanceTo: (word: string) => number): string | undefined {
  const ranked = words
    .map((word) => ({ word, distance: distanceTo(word) }))
    .filter(({ distance }) => distance < Infinity)
    .toSorted((a, b) => a.distance - b.distance)
  return ranked[0]?.word
}

/** The number of typing errors that make `given` of `word`; infinite when there are too many. */
export function typingErrors(given: string, word: string): number {
  const distance =
    given.length >= 3 && word.startsWith(given)
      ? Math.min(1, word.length - given.length)
      : editDistance(given, word)
  return distance <= allowed(given) ? distance : Infinity
}

/** The number of typing errors to tolerate: one in a short word, one per three letters in a long one. */
function allowed(given: string): number {
  return Math.max(1, Math.floor(given.length / 3))
}

/**
 * Optimal string alignment distance: counts insertions, deletions, substitutions and swaps of neighbouring
 * letters.
 */
export function editDistance(a: string, b: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        last![j]! + 1,
        row[j - 1]! + 1,
        last![j - 1]! + (isSame ? 0 : 1),
        isSwapped ? before![j - 2]! + 1 : Infinity,
      )
    }
    ;[before, last] = [last, row]
  }
  return last![b.length]!
}
