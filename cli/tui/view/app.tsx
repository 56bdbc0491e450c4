/** The root component of the dashboard. */
import { Box, Text } from 'ink'
import { useLayoutEffect, useMemo, useSyncExternalStore } from 'react'
import type { Session } from '../session/session.ts'
import { cursorOf } from './compose.ts'
import { paintLine, type Theme } from './paint.ts'
import { screenOf, type Looks } from './screen.ts'

type Props = {
  session: Session
  looks: Looks & Theme
  /** Places the cursor, for screen readers. */
  placeCursor?: (at: { row: number; column: number } | undefined) => void
}

export function App({ session, looks, placeCursor }: Props) {
  const snapshot = useSyncExternalStore(session.subscribe, session.get)
  const lines = useMemo(() => screenOf(snapshot, looks), [snapshot, looks])
  useLayoutEffect(() => placeCursor?.(cursorOf(lines)), [lines, placeCursor])
  const { columns, rows } = snapshot.ui.size
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      {lines.map((line, index) => (
        // Ink gives an empty text no line.
        <Text key={index} wrap="truncate-end">
          {paintLine(line, looks) || ' '}
        </Text>
      ))}
    </Box>
  )
}
