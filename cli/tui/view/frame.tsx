/** The frame of the dashboard: header, tabs, notice and the line of keys. */
import { safeLine, shorten, widthOf } from '../../format/text.ts'
import { actionsOf } from '../actions/action.ts'
import { paneNames, type Piece } from '../panes/pane.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Snapshot } from '../session/session.ts'
import { panes, selectionOf, shownIn } from '../session/ui.ts'
import type { Link } from '../data/data.ts'

/** The largest number of lines of a notice. */
const mostNotice = 6

export function header({ data: { link }, ui }: Snapshot, where: string): Row {
  const state = stateOf(link)
  const room = ui.size.columns - widthOf(state.text) - 8
  const place = shorten(safeLine(where), Math.max(room, 0), 'end')
  const gap = ' '.repeat(Math.max(ui.size.columns - 7 - widthOf(place) - widthOf(state.text), 1))
  return [{ text: 'agent  ', style: 'strong' }, { text: place, style: 'faint' }, { text: gap }, state]
}

function stateOf(link: Link): Piece {
  switch (link.is) {
    case 'live':
      return { text: '● live', style: 'good' }
    case 'away':
      return { text: '○ the daemon is away, trying again', style: 'bad' }
    case 'refused':
      return { text: '○ the daemon refuses, trying again', style: 'bad' }
  }
}

/** Layouts of the tabs, widest first: all counts, then the count of the current pane, then short names of the others. */
const tabStyles = [
  { counts: true, gap: '  ', most: Infinity },
  { counts: false, gap: '', most: Infinity },
  { counts: false, gap: '', most: 3 },
  { counts: false, gap: '', most: 0 },
]

/** Returns the tabs: names, counts, and the number of items that wait for this side. */
export function tabs(snapshot: Snapshot): Row {
  const rows = tabStyles.map((style) => tabRow(snapshot, style))
  const width = (row: Row) => row.reduce((sum, { text }) => sum + widthOf(text), 0)
  return rows.find((row) => width(row) <= snapshot.ui.size.columns) ?? rows.at(-1)!
}

function tabRow({ data, ui }: Snapshot, { counts, gap, most }: (typeof tabStyles)[number]): Row {
  return paneNames.flatMap((name, index): Row => {
    const pane = panes[name]
    const items = pane.items(data)
    const mine = pane.isMine ? items.filter((item) => pane.isMine!(item)).length : 0
    const isHere = name === ui.pane
    const count = ui.filters[name]
      ? `${shownIn(name, data, ui).length}/${items.length}`
      : String(items.length)
    const title = isHere ? pane.title : pane.title.slice(0, most)
    const style = isHere ? 'chosen' : undefined
    return [
      { text: isHere ? '[' : ' ', style },
      { text: `${index + 1}${title === '' ? '' : ` ${title}`}${counts || isHere ? ` ${count}` : ''}`, style },
      { text: mine > 0 ? ` !${mine}` : '', style: 'chosen' },
      { text: isHere ? ']' : ' ', style },
      { text: index === paneNames.length - 1 ? '' : gap },
    ]
  })
}

/** Returns the notice, or the filter while it is typed. */
export function notice({ data: { link }, ui }: Snapshot): Row[] {
  const { columns } = ui.size
  if (ui.prompt?.kind === 'filter')
    return [[{ text: '/', style: 'chosen' }, { text: `${ui.filters[ui.pane] ?? ''}▏` }]]
  if (ui.notice) {
    const { is, text } = ui.notice
    const [mark, style] = {
      busy: ['…', 'waiting'] as const,
      good: ['✓', 'good'] as const,
      bad: ['✗', 'bad'] as const,
    }[is]
    const lines = wrap(`${mark} ${safeLine(text)}`, columns - 1)
    const shown =
      lines.length > mostNotice
        ? [...lines.slice(0, mostNotice - 1), shorten(lines.slice(mostNotice - 1).join(' '), columns - 1)]
        : lines
    return shown.map((line) => [{ text: line, style }])
  }
  if (link.is === 'refused') return [[{ text: `✗ ${link.why}`, style: 'bad' }]]
  const filter = ui.filters[ui.pane]
  return [filter ? [{ text: `filter: ${filter}`, style: 'chosen' }] : []]
}

/** Returns the keys that work now. The most general ones are dropped if they do not fit. */
export function keys({ data, ui }: Snapshot): Row {
  if (ui.prompt?.kind === 'filter')
    return [{ text: 'type to filter   Enter keep filter   Esc clear filter', style: 'faint' }]
  if (ui.prompt) return []
  const { pane, item } = selectionOf(data, ui)
  const own =
    item === undefined
      ? []
      : actionsOf(pane, item, data).flatMap(({ key, word, isAlias }): Key[] => (isAlias ? [] : [[key, word]]))
  const view: Key[] =
    item === undefined
      ? []
      : [
          ['Enter', ui.isZoomed ? 'smaller' : 'larger'],
          ['/', 'filter'],
        ]
  const always: Key[] = [
    ['n', 'new'],
    ['?', 'help'],
    ['q', 'quit'],
  ]
  let room = ui.size.columns + keyGap - always.reduce((sum, key) => sum + widthOfKey(key), 0)
  const fit = [...own, ...view].filter((key) => {
    const isFit = widthOfKey(key) <= room
    room = isFit ? room - widthOfKey(key) : 0
    return isFit
  })
  const shown = [
    ...own.filter((key) => fit.includes(key)),
    ...always,
    ...view.filter((key) => fit.includes(key)),
  ]
  return shown.flatMap(([key, word], index): Row => [
    { text: key, style: 'chosen' },
    { text: ` ${word}${index === shown.length - 1 ? '' : ' '.repeat(keyGap)}` },
  ])
}

type Key = readonly [key: string, word: string]

const keyGap = 2

function widthOfKey([key, word]: Key): number {
  return widthOf(key) + 1 + widthOf(word) + keyGap
}
