/** Prose in a terminal. */
import { widthOf } from './width.ts'

/** Breaks a text at its blanks into lines of at most `columns`; a word that is longer stays whole. */
export function wrap(text: string, columns = Infinity): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && widthOf(last) + 1 + widthOf(word) > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
