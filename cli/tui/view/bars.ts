/** The lines above and below the lists: header, tabs, notice and keys. */
import { safeLine, shorten, widthOf } from '../../format/text.ts'
import { actionsOf } from '../actions/action.ts'
import { paneNames, type Piece } from '../panes/pane.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Snapshot } from '../session/session.ts'
import type { Line } from './compose.ts'
import { panes, selectionOf, shownIn, type Ui } from '../session/ui.ts'
import type { Data, Link } from '../data/data.ts'
import { candidatesOf } from '../session/commands.ts'
import { tail } from './cells.ts'

/** The largest number of lines of a notice. */
const maxNotice = 6

/** Returns the program, where it is connected, and the state of the connection. */
export function header({ data: { link }, ui }: Snapshot, where: readonly string[]): Row {
  const state = stateOf(link, ui.isPlain)
  const room = ui.size.columns - widthOf(state.text) - 8
  const [name = '', ...others] = where.map(safeLine)
  const shown = shorten(name, Math.max(room, 0))
  const rest = shorten(others.map((each) => ` · ${each}`).join(''), Math.max(room - widthOf(shown), 0))
  const gap = ' '.repeat(Math.max(room + 1 - widthOf(shown + rest), 1))
  return [
    { text: 'agent  ', style: 'chosen' },
    { text: shown, style: 'strong' },
    { text: rest, style: 'faint' },
    { text: gap },
    state,
  ]
}

function stateOf(link: Link, isPlain: boolean): Piece {
  const [mark, text] = {
    live: ['● ', 'live'],
    away: ['○ ', 'the daemon is away, trying again'],
    refused: ['○ ', 'the daemon refuses, trying again'],
  }[link.is] as [string, string]
  return { text: `${isPlain ? '' : mark}${text}`, style: link.is === 'live' ? 'good' : 'bad' }
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
    const style = isHere ? 'strong' : undefined
    return [
      { text: isHere ? '[' : ' ', style },
      { text: `${index + 1}${title === '' ? '' : ` ${title}`}${counts || isHere ? ` ${count}` : ''}`, style },
      { text: mine > 0 ? ` !${mine}` : '', style: 'waiting' },
      { text: isHere ? ']' : ' ', style },
      { text: index === paneNames.length - 1 ? '' : gap },
    ]
  })
}

const notices = {
  busy: { mark: '…', word: 'Working:', style: 'running' },
  good: { mark: '✓', word: 'Done:', style: 'good' },
  bad: { mark: '✗', word: 'Error:', style: 'bad' },
} as const

/** Returns the lines of the notice, or of the filter while it is typed. Usually there are none. */
export function notice({ data, ui }: Snapshot): Line[] {
  const { link } = data
  if (ui.prompt?.kind === 'filter')
    return [
      [{ text: '/', style: 'chosen' }, { text: ui.filters[ui.pane] ?? '' }, { text: '▏', isCursor: true }],
    ]
  if (ui.prompt?.kind === 'command') return [commandRow(data, ui, ui.prompt.text)]
  const shown = ui.notice ?? (link.is === 'refused' ? { is: 'bad' as const, text: link.why } : undefined)
  if (!shown) return []
  const columns = ui.size.columns - 1
  const { mark, word, style } = notices[shown.is]
  const lines = wrap(`${ui.isPlain ? word : mark} ${safeLine(shown.text)}`, columns)
  const rest = lines.slice(maxNotice - 1).join(' ')
  return [...lines.slice(0, maxNotice - 1), ...(rest === '' ? [] : [shorten(rest, columns)])].map(
    (text): Row => [{ text, style }],
  )
}

/** Returns the command line, with as many names as fit. */
function commandRow(data: Data, ui: Ui, text: string): Line {
  let room = ui.size.columns - widthOf(text) - 4
  const names = candidatesOf(data, ui, text).filter((name) => (room -= widthOf(name) + 2) >= 0)
  return [
    { text: ':', style: 'chosen' },
    { text: tail(text, ui.size.columns - 3) },
    { text: '▏', isCursor: true },
    { text: names.map((name) => `  ${name}`).join(''), style: 'faint' },
  ]
}

/** Returns the keys that work now. The most general ones are dropped if they do not fit. */
export function keys({ data, ui }: Snapshot): Row {
  if (ui.prompt?.kind === 'command')
    return [{ text: 'Tab complete   ↑↓ earlier lines   Enter run   Esc cancel', style: 'faint' }]
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
