/** Pages of lines that take the whole screen: the help, a trace, the messages of a connection. */
import { typed } from './edit.ts'
import { wrap, type Row } from './details.ts'
import type { Prompt } from './prompt.ts'
import type { Size } from './ui.ts'

export type Page = Extract<Prompt, { kind: 'page' }>

/** The lines that fit on the screen, and how many there are above and below. */
export function shownOf({ rows, scroll, draft, problem }: Page, size: Size) {
  const all = rows(size.columns)
  const problemLines = problem === undefined ? [] : wrap(`✗ ${problem}`, size.columns - 1)
  // The title, the line that is typed, the problem, and the keys.
  const room = Math.max(size.rows - 2 - (draft === undefined ? 0 : 1) - problemLines.length, 1)
  const last = Math.max(all.length - room, 0)
  const first = Math.min(scroll, last)
  return {
    shown: all.slice(first, first + room),
    problemLines,
    room,
    first,
    last,
    below: Math.max(all.length - first - room, 0),
  }
}

/** The page after a key; `undefined` for a key that does nothing here. */
export function turnPage(page: Page, key: string, size: Size): Page | undefined {
  const { room, first, last } = shownOf(page, size)
  // At its end, a page shows each new line.
  const to = (line: number): Page => ({ ...page, scroll: line >= last ? Infinity : Math.max(line, 0) })
  switch (key) {
    case 'down':
      return to(first + 1)
    case 'up':
      return to(first - 1)
    case 'pagedown':
    case 'ctrl-d':
      return to(first + room - 1)
    case 'pageup':
      return to(first - room + 1)
    case 'home':
      return to(0)
    case 'end':
      return to(Infinity)
  }
  if (page.draft !== undefined) {
    const draft = typed(page.draft, key)
    return draft === undefined ? undefined : { ...page, draft, problem: undefined }
  }
  const same = { j: 'down', k: 'up', g: 'home', G: 'end', 'ctrl-u': 'pageup' }[key]
  return same === undefined ? undefined : turnPage(page, same, size)
}

/** A line as a row. */
export function rowOf(text: string): Row {
  return [{ text }]
}
