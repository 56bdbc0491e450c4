/** Frames with titles. */
import { Box, type BoxProps } from 'ink'
import { useContext, type PropsWithChildren } from 'react'
import { Line, ScreenContext } from './text.tsx'

const corners = { topLeft: '┌', topRight: '┐', bottomLeft: '└', bottomRight: '┘' }
const borders = { ...corners, top: '─', right: '│', bottom: '─', left: '│' }

type Props = PropsWithChildren<{
  title: string
  /** At the right end of the upper border. */
  note?: string
  width: number
  /** Lines without the borders. */
  height: number
  /** Blank columns at the left and right. */
  padding?: 0 | 1
  isActive?: boolean
  /** The upper border is also the lower border of the frame above. */
  isJoined?: boolean
}>

/** Lines in a frame. For screen readers there are no borders, and the title is above the lines. */
export function Frame({ title, note, width, height, padding = 1, isActive, isJoined, children }: Props) {
  const { paint, isPlain } = useContext(ScreenContext)
  const box = { flexDirection: 'column', width, flexShrink: 0, paddingX: padding } as const
  if (isPlain)
    return (
      <Box {...box} height={height + 1}>
        <Box marginX={-padding} flexShrink={0}>
          <Line
            row={[
              { text: `${title}: `, style: 'strong' },
              { text: note ?? '', style: 'faint' },
            ]}
          />
        </Box>
        {children}
      </Box>
    )
  const style = isActive ? 'chosen' : 'faint'
  const sides = { ...borders, ...(isJoined && { topLeft: '├', topRight: '┤' }) }
  const painted = Object.entries(sides).map(([side, text]) => [side, paint(style, text)])
  const borderStyle = Object.fromEntries(painted) as NonNullable<BoxProps['borderStyle']>
  return (
    <Box {...box} height={height + 2} borderStyle={borderStyle} marginTop={isJoined ? -1 : 0}>
      <Box marginTop={-1} marginX={1 - padding} justifyContent="space-between" flexShrink={0}>
        {title && <Line row={[{ text: ` ${title} `, style: isActive ? 'strong' : style }]} />}
        <Box flexShrink={0}>{note && <Line row={[{ text: ` ${note} `, style }]} />}</Box>
      </Box>
      {children}
    </Box>
  )
}
