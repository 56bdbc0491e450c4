/** Full-screen pages. */
import { drawQr, type Rendering } from '../../qr/draw.ts'
import { Box, Text } from 'ink'
import { least, type Size } from '../session/ui.ts'
import { safeLine, shorten } from '../../format/text.ts'
import { wrap, type Row } from '../session/details.ts'
import { shownOf, type Page } from '../session/page.ts'
import { tail } from './cells.ts'
import { rule } from './list.tsx'
import { Rows } from './row.tsx'

/** Shows a page of lines, with its input line. */
export function PageOf({ page, size }: { page: Page; size: Size }) {
  const { columns, rows } = size
  const { title, copied, draft } = page
  const { shown, problemLines, room, first, below } = shownOf(page, size)
  const more = [first > 0 ? `${first} above` : '', below > 0 ? `${below} below` : '']
    .filter(Boolean)
    .join(', ')
  const scroll = draft === undefined ? '↑↓ PgUp PgDn scroll' : 'PgUp PgDn scroll'
  const keys = [
    draft !== undefined && 'Enter send',
    'Esc back',
    more !== '' && scroll,
    copied !== undefined && 'y copy',
  ].filter(Boolean)
  const body = [...shown, ...Array.from({ length: Math.max(room - shown.length, 0) }, (): Row => [])]
  const lines: Row[] = [
    rule(columns, more, shorten(safeLine(title), columns - 30)),
    ...body,
    ...(draft === undefined
      ? []
      : [[{ text: '› ', style: 'chosen' as const }, { text: `${tail(draft, columns - 4)}▏` }]]),
    ...problemLines.map((text): Row => [{ text, style: 'bad' }]),
    [{ text: ` ${keys.join('   ')}`, style: 'faint' }],
  ]
  return <Rows rows={lines} height={rows} width={columns} />
}

/** Shows an invitation as a QR code, or its URL if the code does not fit. The code has its own colours. */
export function Invitation({
  title,
  url,
  size: { columns, rows },
  renderings,
}: {
  title: string
  url: string
  size: Size
  renderings: readonly Rendering[] | { reason: string }
}) {
  const foot: Row = [
    { text: ` ${title}`, style: 'strong' },
    { text: '   y copy the URL   Esc back', style: 'faint' },
  ]
  const qr = 'reason' in renderings ? renderings : drawQr(url, { columns, rows: rows - 1 }, renderings)
  if ('reason' in qr) {
    const why = `No QR code: ${qr.reason}. A larger window or a smaller font makes room; y copies the URL.`
    const lines = [...wrap(why, columns - 2), '', ...wrap(url, columns - 2)].map((text): Row => [
      { text: ` ${text}` },
    ])
    return <Rows rows={[...lines.slice(0, rows - 1), foot]} height={rows} width={columns} />
  }
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      {qr.lines.map((line, index) => (
        <Text key={index}>{line}</Text>
      ))}
      <Rows rows={[foot]} height={1} width={columns} />
    </Box>
  )
}

export function TooSmall({ size: { columns, rows } }: { size: Size }) {
  const text = `The terminal has ${columns}×${rows}; the dashboard needs ${least.columns}×${least.rows}. Make it larger, or press q.`
  return (
    <Rows
      rows={wrap(text, Math.max(columns, 1)).map((line): Row => [{ text: line }])}
      height={Math.max(rows, 1)}
      width={columns}
    />
  )
}

const steps: readonly (readonly [key: string, what: string, command: string])[] = [
  ['n 1', 'invite someone to connect', 'agent connection invite --label Bob'],
  ['n 2', 'accept an invitation, or just paste it', 'agent connection accept "<url>"'],
  ['n 5', 'create a DID for credentials', 'agent did create'],
  ['n 3', 'offer a credential', 'agent credential offer --connection <id> …'],
]

/** The first steps with an empty wallet. */
type FirstStepsProps = { width: number; height: number; forSameDaemon: (command: string) => string }

export function FirstSteps({ width, height, forSameDaemon }: FirstStepsProps) {
  const rows: Row[] = [
    [],
    [{ text: '  This wallet is new: there is nothing in it yet. First steps:', style: 'strong' }],
    [],
    ...steps.flatMap(([key, what, command]): Row[] => [
      [{ text: `  ${key}  `, style: 'chosen' }, { text: what }],
      [{ text: `       ${forSameDaemon(command)}`, style: 'faint' }],
    ]),
    [],
    [{ text: '  Changes that other programs make appear here by themselves.' }],
    [{ text: '  `agent demo` shows it all with two agents of its own.', style: 'faint' }],
  ]
  return <Rows rows={rows} height={height} width={width} />
}
