/** Finds the command, flag or value that a mistyped word is closest to. */

/** Synonyms of verbs that commands have. */
const synonyms: Readonly<Record<string, string>> = {
  delete: 'remove',
  del: 'remove',
  rm: 'remove',
  ls: 'list',
  get: 'show',
  view: 'show',
  new: 'create',
  make: 'create',
  send: 'offer',
}

/**
 * Returns the known word that is closest to `given`; undefined when none is close. A prefix counts as a
 * match.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((word) => ({ word, distance: distanceTo(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ distance }) => distance <= allowed(given))
    .toSorted((a, b) => a.distance - b.distance)
  return ranked[0]?.word
}

/**
 * Returns the command that is closest to the given words; further words are its arguments. Undefined when
 * none is close.
 */
export function nearestCommand(given: readonly string[], commands: readonly string[]): string | undefined {
  const ranked = commands
    .map((command) => {
      const words = command.split(' ')
      const distances = words.map((word, index) => wordDistance(given[index] ?? '', word))
      return { command, length: words.length, distance: distances.reduce((sum, each) => sum + each, 0) }
    })
    .filter(({ distance }) => distance < Infinity)
    .toSorted((a, b) => a.distance - b.distance || b.length - a.length)
  return ranked[0]?.command
}

function wordDistance(given: string, word: string): number {
  if (synonyms[given] === word) return 1
  const distance = distanceTo(given.toLowerCase(), word)
  return distance <= allowed(given) ? distance : Infinity
}

/** The number of typing errors to tolerate: one in a short word, one per three letters in a long one. */
function allowed(given: string): number {
  return Math.max(1, Math.floor(given.length / 3))
}

function distanceTo(given: string, word: string): number {
  return given.length >= 3 && word.startsWith(given)
    ? Math.min(1, word.length - given.length)
    : editDistance(given, word)
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
