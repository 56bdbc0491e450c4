/** Files after an @, which shells do not complete. */
import { readdirSync } from 'node:fs'
import type { Candidate } from './words.ts'

/** The files and folders that `@path` may go on with; a folder ends in a slash. */
export function filesAfterAt(word: string): Candidate[] {
  const slash = word.lastIndexOf('/')
  const folder = word.slice(1, slash + 1)
  try {
    return readdirSync(folder || '.', { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') || word.slice(slash + 1).startsWith('.'))
      .map((entry) => ({ value: `@${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
      .toSorted((a, b) => (a.value < b.value ? -1 : 1))
  } catch {
    return []
  }
}
