/**
 * The alternate screen of the terminal (xterm, “The Alternate Screen Buffer”). Draws the lines of a frame
 * that differ from the last one, with synchronized output, and restores the terminal at the end. Ink 6 clears
 * the whole screen before each frame that fills it, and writes changed lines to wrong rows with
 * `incrementalRendering`.
 */
import { stripVTControlCharacters } from 'node:util'
import { widthOf } from '../../format/text.ts'

type Output = { size: () => { columns: number; rows: number }; write: (text: string) => unknown }

// Alternate screen, hidden cursor, bracketed paste.
const entered = '\u001b[?1049h\u001b[?25l\u001b[?2004h\u001b[2J'
const left = '\u001b[?2004l\u001b[?25h\u001b[?1049l'
const [atOnce, done] = ['\u001b[?2026h', '\u001b[?2026l']

type Position = { row: number; column: number }

export type Screen = {
  draw: (frame: string) => void
  /** Shows the cursor at a position, from 0, or hides it. */
  point: (at: Position | undefined) => void
  /** Redraws the whole next frame. */
  forget: () => void
  /** Copies a text to the clipboard, if the terminal supports it (xterm, OSC 52). */
  copy: (text: string) => void
  /** Restores the terminal. Idempotent. */
  leave: () => void
  /** Enters the alternate screen again. */
  enter: () => void
}

/** Enters the alternate screen. */
export function openScreen(output: Output): Screen {
  let drawn: readonly string[] = []
  let isOpen = false
  let cursor: Position | undefined
  const screen: Screen = {
    enter() {
      if (!isOpen) output.write(entered)
      drawn = []
      cursor = undefined
      isOpen = true
    },
    draw(frame) {
      if (!isOpen) return
      const { columns, rows } = output.size()
      const lines = frame.split('\n').slice(0, rows)
      const changes = lines.flatMap((line, row) =>
        line === drawn[row] ? [] : [place(row) + line + rest(line, columns)],
      )
      const gone = drawn.slice(lines.length).map((_, row) => place(lines.length + row) + '\u001b[K')
      drawn = lines
      if (changes.length + gone.length > 0)
        output.write(
          [atOnce, ...changes, ...gone, cursor ? place(cursor.row, cursor.column) : '', done].join(''),
        )
    },
    point(at) {
      if (!isOpen || (at?.row === cursor?.row && at?.column === cursor?.column)) return
      cursor = at
      output.write(at ? `${place(at.row, at.column)}\u001b[?25h` : '\u001b[?25l')
    },
    forget() {
      drawn = []
      if (isOpen) output.write('\u001b[2J')
    },
    copy(text) {
      if (isOpen) output.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`)
    },
    leave() {
      if (isOpen) output.write(left)
      isOpen = false
    },
  }
  screen.enter()
  return screen
}

function place(row: number, column = 0): string {
  return `\u001b[${row + 1};${column + 1}H`
}

/** Erases to the end of a line. After a full line this would erase its last character. */
function rest(line: string, columns: number): string {
  return widthOf(stripVTControlCharacters(line)) < columns ? '\u001b[K' : ''
}
