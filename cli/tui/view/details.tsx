/** The details of what is selected, under a rule or beside the list. */
import { detailsOf, type Row } from '../session/details.ts'
import type { Snapshot } from '../session/session.ts'
import { selectionOf } from '../session/ui.ts'
import { Rows } from './row.tsx'

type Props = { snapshot: Snapshot; width: number; height: number }

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

/** A line across, which says what there is beyond. */
export function rule(width: number, more = '', title = ''): Row {
  const begin = title === '' ? '──' : `── ${title} `
  const end = more === '' ? '' : ` ${more} ──`
  return [{ text: begin + '─'.repeat(Math.max(width - begin.length - end.length, 0)) + end, style: 'faint' }]
}
