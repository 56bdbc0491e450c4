/** The list of a pane around its selection, and the details of the selected item. */
import { selectionOf, type Layout } from '../session/ui.ts'
import { detailsOf, wrap, type Row } from '../session/details.ts'
import type { Snapshot } from '../session/session.ts'
import { cell, fitColumns } from './cells.ts'
import { inOneStyle, fit, type Block, type Line } from './compose.ts'

/** The marks before a line: selected, and waiting for this side. Without symbols, in words. */
const symbols = { selected: '›', mine: '!', columns: 1 }
const words = { selected: '', mine: 'your turn', columns: 10 }

export function listBlock({ data, ui }: Snapshot, { list: { text: width, height } }: Layout): Block {
  const { pane, items, index } = selectionOf(data, ui)
  const marks = ui.isPlain ? words : symbols
  const before = (ui.isPlain ? 0 : 1) + marks.columns
  const columns = fitColumns(pane.columns, width - before)
  const room = Math.max(height - 1, 0)
  const first = Math.max(Math.min(index - Math.floor(room / 2), items.length - room), 0)
  const line = (item: unknown, place: number): Line => {
    const isSelected = first + place === index
    const cells = columns.map(({ column, width }, at) => {
      const shown = column.of(item, data, ui.now) ?? ''
      return cell(typeof shown === 'string' ? { text: shown } : shown, width, at === columns.length - 1)
    })
    const selected = isSelected ? marks.selected : ' '.repeat(marks.selected.length)
    const row: Line = [
      { text: selected, style: 'chosen', isCursor: isSelected && ui.prompt === undefined },
      { text: (pane.isMine?.(item) ? marks.mine : '').padEnd(marks.columns), style: 'waiting' },
      ...cells,
    ]
    return isSelected ? inOneStyle(fit(row, width), 'selected') : row
  }
  const head: Row = [
    { text: ' '.repeat(before) },
    ...columns.map(({ column, width }, at) =>
      cell({ text: column.head.toUpperCase(), style: 'strong' }, width, at === columns.length - 1),
    ),
  ]
  const filter = ui.filters[ui.pane]
  const empty = filter ? `Nothing matches the filter “${filter}”. Esc clears it.` : pane.empty
  return {
    title: filter ? `${pane.title}, filter: ${filter}` : pane.title,
    note: items.length === 0 ? '' : `${index + 1} of ${items.length}`,
    rows:
      items.length === 0
        ? [[], ...wrap(empty, width - 4).map((text): Row => [{ text: `  ${text}` }])]
        : [head, ...items.slice(first, first + room).map(line)],
    height,
    isActive: ui.prompt === undefined || ui.prompt.kind === 'filter',
  }
}

/** Returns the details, and the timeline if it has an area of its own. */
export function detailBlocks({ data, ui, contents }: Snapshot, layout: Layout): [Block, Block | undefined] {
  const { pane, item } = selectionOf(data, ui)
  const look = { data, now: ui.now, contents }
  const { lines, aside, asideTitle } =
    item === undefined ? { lines: [], aside: [], asideTitle: '' } : detailsOf(pane, item, look, layout)
  const { details } = layout
  const shown = { rows: lines, height: details.height, scroll: ui.scroll }
  const block: Block = { title: 'Details', ...scrolled(shown), padding: 1, isActive: ui.isZoomed }
  if (!layout.aside) return [block, undefined]
  const beside = { rows: aside, height: layout.aside.height, scroll: ui.scroll }
  return [block, { title: asideTitle, ...scrolled(beside), padding: 1 }]
}

/** Returns the visible rows, and the number of rows above and below them. */
export function scrolled<Row>({
  rows,
  height,
  scroll,
}: {
  rows: readonly Row[]
  height: number
  scroll: number
}) {
  const first = Math.max(Math.min(scroll, rows.length - height), 0)
  const below = rows.length - first - height
  const note = [first > 0 ? `${first} above` : '', below > 0 ? `${below} below` : '']
    .filter(Boolean)
    .join(', ')
  return { rows: rows.slice(first, first + height), height, note }
}
