/** The text of a line. Only this file applies colours, after removing control characters. */
import type { Paint } from '../../format/colour.ts'
import { safeLine } from '../../format/text.ts'
import type { Line } from './compose.ts'

export type Theme = {
  paint: Paint
  /** Draws frames and symbols with ASCII characters. */
  isAscii: boolean
}

/** Returns a line with its colours, without blanks at its end. */
export function paintLine(line: Line, { paint, isAscii }: Theme): string {
  return line
    .map(({ text: given, style, columns }) => {
      if (columns !== undefined) return given
      const text = isAscii ? toAscii(safeLine(given)) : safeLine(given)
      return style ? paint(style, text) : text
    })
    .join('')
    .trimEnd()
}

/** The characters of the dashboard, and ASCII characters in place of them, each one column wide. */
const [drawn, inAscii] = ['┌┐└┘├┤─│●○›▏✓✗…↑↓“”‘’·×–—', '++++++-|*o>_+!~^v""\'\'-x--'] as const

function toAscii(text: string): string {
  return text.replaceAll(/[^ -~]/gu, (character) => inAscii[drawn.indexOf(character)] ?? character)
}
