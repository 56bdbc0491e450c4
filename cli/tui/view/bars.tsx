/** The lines above and below the lists: header, tabs, notice and keys. */
import { Box } from 'ink'
import { safeLine, shorten, widthOf } from '../../format/text.ts'
import { actionsOf } from '../actions/action.ts'
import type { Link } from '../data/data.ts'
import { paneNames, type Pane, type Piece } from '../panes/pane.ts'
import { candidatesOf } from '../session/commands.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Snapshot } from '../session/session.ts'
import { panes, selectionOf, shownIn } from '../session/ui.ts'
import { Line, Typed } from './text.tsx'

/** The program, where it is connected, and the state of the connection. */
export function Header({ snapshot: { data, ui }, where }: { snapshot: Snapshot; where: readonly string[] }) {
  const [name = '', ...others] = where
  return (
    <Box justifyContent="space-between" columnGap={1}>
      <Line
        row={[
          { text: 'agent  ', style: 'chosen' },
          { text: name, style: 'strong' },
          { text: others.map((each) => ` · ${each}`).join(''), style: 'faint' },
        ]}
      />
      <Box flexShrink={0}>
        <Line row={[stateOf(data.link, ui.isPlain)]} />
      </Box>
    </Box>
  )
}

function stateOf(link: Link, isPlain: boolean): Piece {
  const [mark, text] = {
    live: ['● ', 'live'],
    away: ['○ ', 'the daemon is away, trying again'],
    refused: ['○ ', 'the daemon refuses, trying again'],
  }[link.is] as [string, string]
  return { text: `${isPlain ? '' : mark}${text}`, style: link.is === 'live' ? 'good' : 'bad' }
}

/**
 * Layouts of the tabs, widest first: all counts, then short names of the other panes, then the count of the
 * current pane alone, then the first letters of the others, and then their numbers.
 */
const tabStyles: readonly TabStyle[] = [
  { counts: true, gap: '  ', nameOf: ({ title }) => title },
  { counts: true, gap: '', nameOf: ({ title }) => title },
  { counts: true, gap: '', isShort: true, nameOf: ({ title, short = title }) => short },
  { counts: false, gap: '', nameOf: ({ title }) => title },
  { counts: false, gap: '', nameOf: ({ title }) => title.slice(0, 3) },
  { counts: false, gap: '', nameOf: () => '' },
]

type TabStyle = {
  counts: boolean
  gap: string
  /** Has names that a screen reader cannot read well. */
  isShort?: true
  nameOf: (pane: Pane<any>) => string
}

/** The names of the panes, their counts, and the number of items that wait for this side. */
export function Tabs({ snapshot }: { snapshot: Snapshot }) {
  const { isPlain } = snapshot.ui
  const rows = tabStyles
    .filter(({ isShort }) => !(isShort && isPlain))
    .map((style) => tabRow(snapshot, style))
  const width = (row: Row) => row.reduce((sum, { text }) => sum + widthOf(text), 0)
  return <Line row={rows.find((row) => width(row) <= snapshot.ui.size.columns) ?? rows.at(-1)!} />
}

function tabRow({ data, ui }: Snapshot, { counts, gap, nameOf }: TabStyle): Row {
  return paneNames.flatMap((name, index): Row => {
    const pane = panes[name]
    const items = pane.items(data)
    const mine = pane.isMine ? items.filter((item) => pane.isMine!(item)).length : 0
    const isHere = name === ui.pane
    const count = ui.filters[name]
      ? `${shownIn(name, data, ui).length}/${items.length}`
      : String(items.length)
    const title = isHere ? pane.title : nameOf(pane)
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

/** The largest number of lines of a notice. */
const maxNotice = 6

/** Returns the lines of the notice. Usually there are none. */
export function noticeOf({ data: { link }, ui }: Snapshot): readonly Row[] {
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

/** The line that is typed at the foot: a filter, or a command with as many names as fit. */
export function TypedLine({ snapshot: { data, ui } }: { snapshot: Snapshot }) {
  const command = ui.prompt?.kind === 'command' ? ui.prompt.text : undefined
  const names = command === undefined ? [] : candidatesOf(data, ui, command)
  return (
    <Box height={1} overflow="hidden">
      <Typed mark={command === undefined ? '/' : ':'} text={command ?? ui.filters[ui.pane] ?? ''} />
      <Box flexWrap="wrap">
        {names.map((name) => (
          <Line key={name} row={[{ text: `  ${name}`, style: 'faint' }]} />
        ))}
      </Box>
    </Box>
  )
}

type Key = { key: string; word: string; isAlias?: boolean }

const always: readonly Key[] = [
  { key: 'n', word: 'new' },
  { key: '?', word: 'help' },
  { key: 'q', word: 'quit' },
]

/** The keys that work now. The last ones are dropped if they do not fit. */
export function Keys({ snapshot: { data, ui } }: { snapshot: Snapshot }) {
  if (ui.prompt) {
    const text = {
      command: 'Tab complete   ↑↓ earlier lines   Enter run   Esc cancel',
      filter: 'type to filter   Enter keep filter   Esc clear filter',
    }[ui.prompt.kind as string]
    return <Line row={[{ text: text ?? '', style: 'faint' }]} />
  }
  const { pane, item } = selectionOf(data, ui)
  const view = [
    { key: 'Enter', word: ui.isZoomed ? 'smaller' : 'larger' },
    { key: '/', word: 'filter' },
  ]
  const own: readonly Key[] = item === undefined ? [] : [...actionsOf(pane, item, data), ...view]
  return (
    <Box height={1} columnGap={2} justifyContent="space-between">
      <Box flexWrap="wrap" columnGap={2} overflow="hidden">
        <Words keys={own.filter(({ isAlias }) => !isAlias)} />
      </Box>
      <Box columnGap={2} flexShrink={0}>
        <Words keys={always} />
      </Box>
    </Box>
  )
}

function Words({ keys }: { keys: readonly Key[] }) {
  return keys.map(({ key, word }) => (
    <Line key={key} row={[{ text: key, style: 'chosen' }, { text: ` ${word}` }]} />
  ))
}
