/** Lines of the screen. Only this file applies colours, after removing control characters. */
import { Text } from 'ink'
import { createContext, useContext } from 'react'
import { plain, type Paint } from '../../format/colour.ts'
import { safeLine } from '../../format/text.ts'
import type { Part } from './compose.ts'

export type Theme = {
  paint: Paint
  /** Draws frames and symbols with ASCII characters. */
  isAscii: boolean
}

export const Theme = createContext<Theme>({ paint: plain, isAscii: false })

/** One line. */
export function Row({ parts }: { parts: readonly Part[] }) {
  const { paint, isAscii } = useContext(Theme)
  const line = parts
    .map(({ text: given, style, columns }) => {
      if (columns !== undefined) return given
      const text = isAscii ? toAscii(safeLine(given)) : safeLine(given)
      return style ? paint(style, text) : text
    })
    .join('')
  // Ink gives an empty text no line.
  return <Text wrap="truncate-end">{line.trimEnd() || ' '}</Text>
}

/** The characters of the dashboard, and ASCII characters in place of them, each one column wide. */
const [drawn, inAscii] = ['┌┐└┘├┤─│●○›▏✓✗…↑↓“”‘’·×–—', '++++++-|*o>_+!~^v""\'\'-x--'] as const

function toAscii(text: string): string {
  return text.replaceAll(/[^ -~]/gu, (character) => inAscii[drawn.indexOf(character)] ?? character)
}
