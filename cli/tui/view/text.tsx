/** Lines of text. Only this file writes texts: it removes control characters and applies styles. */
import { Box, Text, type DOMElement, type TextProps } from 'ink'
import { createContext, useContext, type PropsWithChildren, type RefObject } from 'react'
import { plain, type Paint } from '../../format/colour.ts'
import { pad, safeLine } from '../../format/text.ts'
import type { Row } from '../session/details.ts'

type Screen = {
  paint: Paint
  /** For screen readers: no frames, and words instead of symbols. */
  isPlain: boolean
  /** The box whose upper left corner has the cursor of the terminal. */
  cursor: RefObject<DOMElement | null>
}

export const ScreenContext = createContext<Screen>({
  paint: plain,
  isPlain: false,
  cursor: { current: null },
})

/** The columns of the widest terminal that is drawn. Ink is slow with longer texts. */
export const maxColumns = 1_000

/** A line, cut where its box ends. */
export function Line({ row, cut = 'truncate-end' }: { row: Row; cut?: TextProps['wrap'] }) {
  const { paint } = useContext(ScreenContext)
  const texts = row.map(({ text, style }) => {
    const shown = safeLine(text).slice(0, cut === 'wrap' ? undefined : maxColumns)
    return style ? paint(style, shown) : shown
  })
  // Ink gives an empty text no line.
  return <Text wrap={cut}>{texts.join('') || ' '}</Text>
}

export function Lines({ rows }: { rows: readonly Row[] }) {
  return rows.map((row, index) => <Line key={index} row={row} />)
}

/**
 * A text, broken between words, and in long words. Ink’s own breaks would leave blanks at the beginning of
 * lines.
 */
export function Paragraph({ text, style }: Row[number]) {
  return (
    <Box flexWrap="wrap" columnGap={1} flexShrink={0}>
      {text
        .split(' ')
        .map((word, index) =>
          word === '' ? <Box key={index} /> : <Line key={index} row={[{ text: word, style }]} cut="wrap" />,
        )}
    </Box>
  )
}

/** Returns a line in reverse video over all its columns. */
export function selected(row: Row, columns: number): Row {
  return [{ text: pad(row.map(({ text }) => text).join(''), columns), style: 'selected' }]
}

/** A box that does not shrink, and may have the cursor. */
export function Place({ isCursor = false, children }: PropsWithChildren<{ isCursor?: boolean }>) {
  const { cursor } = useContext(ScreenContext)
  return (
    <Box flexShrink={0} {...(isCursor && { ref: cursor })}>
      {children}
    </Box>
  )
}

type TypedProps = { mark?: string; text: string; isHere?: boolean }

/** A line that is typed, cut where its text begins, and the place of the next character if it is here. */
export function Typed({ mark, text, isHere = true }: TypedProps) {
  return (
    <Box>
      <Place>{mark && <Line row={[{ text: mark, style: 'chosen' }]} />}</Place>
      {text && <Line row={[{ text: text.slice(-maxColumns) }]} cut="truncate-start" />}
      <Place isCursor={isHere}>
        <Line row={[{ text: isHere ? '▏' : ' ' }]} />
      </Place>
    </Box>
  )
}

/** The characters of the dashboard, and ASCII characters in place of them, each one column wide. */
const [drawn, inAscii] = ['┌┐└┘├┤─│●○›▏✓✗…↑↓“”‘’·×–—', '++++++-|*o>_+!~^v""\'\'-x--'] as const

export function toAscii(frame: string): string {
  return frame.replaceAll(/[^ -~]/gu, (character) => inAscii[drawn.indexOf(character)] ?? character)
}
