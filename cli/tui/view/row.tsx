/** Lines of the screen. Only this file applies colours, after removing control characters. */
import { Box, Text } from 'ink'
import { createContext, useContext } from 'react'
import { plain, type Paint } from '../../format/colour.ts'
import { safeLine } from '../../format/text.ts'
import type { Row as Parts } from '../session/details.ts'

/** The colours of the terminal. */
export const Colours = createContext<Paint>(plain)

/** One line. */
export function Row({ parts }: { parts: Parts }) {
  const paint = useContext(Colours)
  const line = parts
    .map(({ text, style }) => (style ? paint(style, safeLine(text)) : safeLine(text)))
    .join('')
  // Ink gives an empty text no line.
  return <Text wrap="truncate-end">{line.trimEnd() || ' '}</Text>
}

/** Shows exactly `height` lines. */
export function Rows({ rows, height, width }: { rows: readonly Parts[]; height: number; width: number }) {
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0}>
      {Array.from({ length: height }, (_, index) => (
        <Row key={index} parts={rows[index] ?? []} />
      ))}
    </Box>
  )
}
