/** Finds the command that mistyped words are closest to. */
import { typingErrors } from '../../src/foundation/nearest.ts'

const synonyms: Readonly<Record<string, string>> = {
  delete: 'remove',
  del: 'remove',
  rm: 'remove',
  ls: 'list',
  get: 'show',
  view: 'show',
  new: 'create',
  make: 'create',
  rename: 'update',
  switch: 'use',
  send: 'offer',
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
  return synonyms[given] === word ? 1 : typingErrors(given.toLowerCase(), word)
}
