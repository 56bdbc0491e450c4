/** Pages in place of the lists. */
import { drawQr } from '../../qr/draw.ts'
import { isLoopback } from '../../qr/link.ts'
import type { Piece } from '../panes/pane.ts'
import { least, type Size, type Ui } from '../session/ui.ts'
import { wrap, type Row } from '../session/details.ts'
import { shownOf, type Page } from '../session/page.ts'
import type { Prompt } from '../session/prompt.ts'
import { tail } from './cells.ts'
import type { Looks } from './screen.ts'
import { fit, framed, type Block, type Line } from './compose.ts'

/** Returns a page of lines on the whole screen, with its input line. */
export function pageOf(page: Page, ui: Ui): Line[] {
  const { columns } = ui.size
  const { shown, problemLines, room, note } = shownOf(page, ui)
  const { title, draft, copied } = page
  const scroll = draft === undefined ? '↑↓ PgUp PgDn scroll' : 'PgUp PgDn scroll'
  const keys = [
    draft !== undefined && 'Enter send',
    'Esc back',
    note !== '' && scroll,
    copied !== undefined && 'y copy',
  ].filter(Boolean)
  const below: Line[] = [
    ...(draft === undefined
      ? []
      : [
          [
            { text: '› ', style: 'chosen' as const },
            { text: tail(draft, columns - 8) },
            { text: '▏', isCursor: true },
          ],
        ]),
    ...problemLines.map((text): Row => [{ text, style: 'bad' }]),
  ]
  const rows = [
    ...shown,
    ...Array.from({ length: Math.max(room - shown.length, 0) }, (): Row => []),
    ...below,
  ]
  const block: Block = { title, note, rows, height: rows.length, padding: 1, isActive: true }
  const foot: Row = [{ text: ` ${keys.join('   ')}`, style: 'faint' }]
  return [...framed([block], columns, ui.isPlain), fit(foot, columns)]
}

/** Returns the box of a page that is in front of the lists. */
export function helpBox(page: Page, ui: Ui): { lines: Line[]; width: number } {
  const { shown, room, note, width } = shownOf(page, ui)
  const title = `${page.title} (Esc closes)`
  const block: Block = { title, note, rows: shown, height: room, padding: 1, isActive: true }
  return { lines: framed([block], width, false), width }
}

/** The narrowest column of text beside a QR code. */
const narrowestText = 20

function linesIn(text: string, room: number, style?: Piece['style']): Row[] {
  return text === '' ? [] : wrap(text, room).map((line) => [{ text: line, style }])
}

type Qr = Extract<Prompt, { kind: 'qr' }>

/** Returns an invitation as a QR code with its URL beside or below it, or why there is no code. The code has its own colours. */
export function invitationPage(
  { title, url: shortest, longUrl, isLong }: Qr,
  { size: { columns, rows }, isPlain }: Pick<Ui, 'size' | 'isPlain'>,
  { renderings, forSameDaemon }: Pick<Looks, 'renderings' | 'forSameDaemon'>,
): Line[] {
  const url = isLong ? longUrl : shortest
  const other = longUrl === shortest ? '' : `   l ${isLong ? 'short' : 'long'} URL`
  const foot: Row = [{ text: ` y copy the URL${other}   Esc back`, style: 'faint' }]
  const warning = isLoopback(url)
    ? `Only this computer reaches this address. For phones: ${forSameDaemon('agent daemon restart --lan')}`
    : ''
  const height = rows - (isPlain ? 2 : 3)
  const width = columns - (isPlain ? 0 : 4)
  const qr = 'reason' in renderings ? renderings : drawQr(url, { columns: width, rows: height }, renderings)
  const block = { title, height, padding: 1, isActive: true } as const
  const page = (lines: readonly Line[]) => [
    ...framed([{ ...block, rows: lines }], columns, isPlain),
    fit(foot, columns),
  ]
  if ('reason' in qr) {
    const why = `No QR code: ${qr.reason}. A larger window or a smaller font makes room; y copies the URL.`
    return page([
      ...linesIn(why, width),
      [],
      ...linesIn(url, width),
      [],
      ...linesIn(warning, width, 'waiting'),
    ])
  }
  const code = qr.lines.map((text): Line => [{ text, columns: qr.width }])
  const room = width - qr.width - 2
  if (room < narrowestText)
    return page([...code, ...linesIn(warning, width, 'waiting'), ...linesIn(url, width)])
  const text = [
    ...linesIn('Scan the code, or copy its URL:', room, 'strong'),
    [],
    ...linesIn(url, room),
    [],
    ...linesIn(warning, room, 'waiting'),
  ]
  return page(
    Array.from({ length: Math.max(code.length, text.length) }, (_, row): Line => [
      ...(code[row] ?? [{ text: ' '.repeat(qr.width) }]),
      { text: '  ' },
      ...(text[row] ?? []),
    ]),
  )
}

export function tooSmall({ columns, rows }: Size): Line[] {
  const text = `The terminal has ${columns}×${rows}; the dashboard needs ${least.columns}×${least.rows}. Make it larger, or press q.`
  return wrap(text, Math.max(columns, 1))
    .slice(0, Math.max(rows, 1))
    .map((line): Row => [{ text: line }])
}

const steps: readonly (readonly [key: string, what: string, command: string])[] = [
  ['n 1', 'invite someone to connect', 'agent connection invite --label Bob'],
  ['n 2', 'accept an invitation, or just paste it', 'agent connection accept "<url>"'],
  ['n 5', 'create a DID for credentials', 'agent did create'],
  ['n 3', 'offer a credential', 'agent credential offer --connection <id> …'],
]

/** Returns the first steps with an empty wallet. */
export function firstSteps(height: number, forSameDaemon: (command: string) => string): Block {
  const rows: Row[] = [
    [{ text: 'This wallet is new: there is nothing in it yet.', style: 'strong' }],
    [],
    ...steps.flatMap(([key, what, command]): Row[] => [
      [{ text: `${key}  `, style: 'chosen' }, { text: what }],
      [{ text: `     ${forSameDaemon(command)}`, style: 'faint' }],
    ]),
    [],
    [{ text: 'Changes that other programs make appear here by themselves.' }],
    [{ text: '`agent demo` shows it all with two agents of its own.', style: 'faint' }],
  ]
  return { title: 'First steps', rows, height, padding: 1, isActive: true }
}
