/** The list of a pane around its selection, and the details below or beside it. */
import { selectionOf } from '../session/ui.ts'
import { detailsOf, wrap, type Row } from '../session/details.ts'
import type { Snapshot } from '../session/session.ts'
import { cell, fitColumns } from './cells.ts'
import { Rows } from './row.tsx'

/** Columns of the marks of a line: selected, and waiting for this side. */
const marks = 2

type Props = { snapshot: Snapshot; width: number; height: number }

export function List({ snapshot: { data, ui }, width, height }: Props) {
  const { pane, items, index } = selectionOf(data, ui)
  const columns = fitColumns(pane.columns, width - marks)
  const room = height - 1
  const first = Math.max(Math.min(index - Math.floor(room / 2), items.length - room), 0)
  const line = (item: unknown, place: number): Row => {
    const isSelected = first + place === index
    const cells = columns.map(({ column, width }, at) => {
      const shown = column.of(item, data, ui.now) ?? ''
      const styled = typeof shown === 'string' ? { text: shown } : shown
      return cell(
        isSelected && styled.style === undefined ? { ...styled, style: 'strong' } : styled,
        width,
        at === columns.length - 1,
      )
    })
    return [
      { text: isSelected ? '›' : ' ', style: 'chosen' },
      { text: pane.isMine?.(item) ? '!' : ' ', style: 'chosen' },
      ...cells,
    ]
  }
  const head: Row = [
    { text: ' '.repeat(marks) },
    ...columns.map(({ column, width }, at) =>
      cell({ text: column.head.toUpperCase(), style: 'faint' }, width, at === columns.length - 1),
    ),
  ]
  const empty = ui.filters[ui.pane]
    ? `Nothing matches the filter “${ui.filters[ui.pane]}”. Esc clears it.`
    : pane.empty
  const rows =
    items.length === 0
      ? [[], ...wrap(empty, width - 2 * marks).map((text): Row => [{ text: `  ${text}` }])]
      : [head, ...items.slice(first, first + room).map(line)]
  return <Rows rows={rows} height={height} width={width} />
}

export function Details({ snapshot: { data, ui, contents }, width, height }: Props) {
  const { pane, item } = selectionOf(data, ui)
  const lines = item === undefined ? [] : detailsOf(pane, item, { data, now: ui.now, contents }, width)
  const room = height - 1
  const first = Math.max(Math.min(ui.scroll, lines.length - room), 0)
  const below = lines.length - first - room
  const more = [first > 0 ? `${first} above` : '', below > 0 ? `${below} below` : '']
    .filter(Boolean)
    .join(', ')
  return (
    <Rows rows={[rule(width, more), ...lines.slice(first, first + room)]} height={height} width={width} />
  )
}

/** Returns a horizontal rule with a title and a note. */
export function rule(width: number, more = '', title = ''): Row {
  const begin = title === '' ? '──' : `── ${title} `
  const end = more === '' ? '' : ` ${more} ──`
  return [{ text: begin + '─'.repeat(Math.max(width - begin.length - end.length, 0)) + end, style: 'faint' }]
}
