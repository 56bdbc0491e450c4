/** The list of a pane around its selection, and the details of the selected item. */
import { Box } from 'ink'
import { pad, safeLine, shorten, widthOf } from '../../format/text.ts'
import type { Column, Piece } from '../panes/pane.ts'
import { detailsOf, type Row } from '../session/details.ts'
import { windowOf } from '../session/page.ts'
import type { Snapshot } from '../session/session.ts'
import { selectionOf, type Layout } from '../session/ui.ts'
import { Frame } from './frame.tsx'
import { Question } from './question.tsx'
import { Line, Lines, Paragraph, Place, selected } from './text.tsx'

type Props = { snapshot: Snapshot; layout: Layout }

/** The marks before a line: selected, and waiting for this side. Without symbols, in words. */
const symbols = { selected: '›', mine: '!', columns: 1 }
const words = { selected: '', mine: 'your turn', columns: 10 }

export function List({ snapshot: { data, ui }, layout }: Props) {
  const { text: columns, ...area } = layout.list
  const { pane, items, index } = selectionOf(data, ui)
  const filter = ui.filters[ui.pane]
  const frame = {
    ...area,
    padding: 0,
    title: filter ? `${pane.title}, filter: ${filter}` : pane.title,
    isActive: ui.prompt === undefined || ui.prompt.kind === 'filter',
  } as const
  if (items.length === 0)
    return (
      <Frame {...frame}>
        <Box paddingX={2} paddingY={1}>
          <Paragraph text={filter ? `Nothing matches the filter “${filter}”. Esc clears it.` : pane.empty} />
        </Box>
      </Frame>
    )
  const marks = ui.isPlain ? words : symbols
  const before = marks.selected.length + marks.columns
  const room = Math.max(area.height - 1, 0)
  const first = Math.max(Math.min(index - Math.floor(room / 2), items.length - room), 0)
  const visible = items.slice(first, first + room)
  const cells = cellsIn(pane.columns, columns - before, (column) =>
    Math.max(...visible.map((item) => widthOf(safeLine(toPiece(column.of(item, data, ui.now)).text)))),
  )
  const rowOf = (item: unknown, isSelected: boolean): Row => {
    const row: Row = [
      { text: isSelected ? marks.selected : ' '.repeat(marks.selected.length) },
      { text: (pane.isMine?.(item) ? marks.mine : '').padEnd(marks.columns), style: 'waiting' },
      ...cells((column) => column.of(item, data, ui.now)),
    ]
    return isSelected ? selected(row, columns) : row
  }
  return (
    <Frame {...frame} note={`${index + 1} of ${items.length}`}>
      <Line
        row={[
          { text: ' '.repeat(before) },
          ...cells(({ head }) => ({ text: head.toUpperCase(), style: 'strong' })),
        ]}
      />
      {visible.map((item, place) => (
        <Place key={place} isCursor={first + place === index && ui.prompt === undefined}>
          <Line row={rowOf(item, first + place === index)} />
        </Place>
      ))}
    </Frame>
  )
}

const gap = 2
const narrowest = 10

function toPiece(text: Piece | string | undefined = ''): Piece {
  return typeof text === 'string' ? { text } : text
}

/**
 * Returns a function that pads or cuts texts to the columns that fit. DIDs and URLs are cut in the middle.
 * `widest` returns the width of the longest text of a column.
 */
function cellsIn(
  columns: readonly Column<unknown>[],
  width: number,
  widest: (column: Column<unknown>) => number,
) {
  const roomOf = (column: Column<unknown>, most: number) =>
    column.isSteady ? most : Math.min(most, Math.max(widest(column), column.head.length))
  const shown = columns
    .filter(({ from = 0 }) => width >= from)
    .map((column) => ({
      ...column,
      room: column.width === 'rest' ? 0 : roomOf(column, column.width),
    }))
  // The last column is not at the frame, unless a text needs its whole width.
  const margin = shown.at(-1)!.isSteady ? 0 : 1
  const fixed = shown.reduce((sum, { width, room }) => sum + (width === 'rest' ? 0 : room + gap), margin)
  return (of: (column: Column<unknown>) => Piece | string | undefined): Row =>
    shown.map((column, index) => {
      const { text, style } = toPiece(of(column))
      const line = safeLine(text)
      const room = column.width === 'rest' ? Math.max(width - fixed, narrowest) : column.room
      const short = shorten(line, room, /^(?:did|https?):/.test(line) ? 'middle' : 'end')
      return { text: index === shown.length - 1 ? short : pad(short, room + gap), style }
    })
}

/** The details or a question, and the timeline if it has an area of its own. */
export function Details({ snapshot: { data, ui, contents }, layout }: Props) {
  const { pane, item } = selectionOf(data, ui)
  const { prompt } = ui
  const { lines, aside, asideTitle } =
    item === undefined
      ? { lines: [], aside: [], asideTitle: '' }
      : detailsOf(pane, item, { data, now: ui.now, contents }, layout)
  const { shown, note } = windowOf(lines, layout.details.height, ui.scroll)
  const beside = layout.aside && windowOf(aside, layout.aside.height, ui.scroll)
  const frame = { ...layout.details, isJoined: !ui.isZoomed && !layout.isWide }
  return (
    <>
      {prompt && 'answer' in prompt ? (
        <Question prompt={prompt} {...frame} />
      ) : (
        <Frame title="Details" note={note} isActive={ui.isZoomed} {...frame}>
          <Lines rows={shown} />
        </Frame>
      )}
      {beside && (
        <Frame title={asideTitle} note={beside.note} {...layout.aside!}>
          <Lines rows={beside.shown} />
        </Frame>
      )}
    </>
  )
}
