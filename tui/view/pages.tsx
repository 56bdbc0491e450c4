/** Pages that take the whole screen. */
import { drawQr, type Rendering } from '../../commands/_ui/qr.ts'
import { Box, Text } from 'ink'
import { least } from '../session/layout.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Size } from '../session/ui.ts'
import { Rows } from './row.tsx'

/** The keys, as the help and the documentation have them. */
export const help: readonly (readonly [keys: string, what: string])[] = [
  ['Tab Shift-Tab 1–6', 'go to another pane'],
  ['↑ ↓ j k PgUp PgDn g G', 'go about in the list'],
  ['Enter', 'give the details the whole screen, and back'],
  ['J K', 'scroll the details'],
  ['/  Esc', 'filter the list, and no longer'],
  ['n', 'invite, be invited, offer, ask for a proof, make a DID'],
  ['a', 'accept an offer, or the request for a proof'],
  ['i', 'issue what was accepted'],
  ['p', 'present a credential; publish a DID'],
  ['v', 'accept a presentation that was verified'],
  ['x', 'reject; withdraw an invitation (asks first)'],
  ['r', 'revoke a credential (asks first)'],
  ['t s', 'test a webhook; send it again what was given up'],
  ['y Y', 'copy the invitation’s URL or the id; always the id'],
  ['Q', 'show an invitation as a QR code'],
  ['R', 'ask the daemon for everything anew'],
  ['q Ctrl-C  Ctrl-Z', 'quit; leave for a while (fg comes back)'],
]

export function Help({ size: { columns, rows } }: { size: Size }) {
  const lines = help.map(([keys, what]): Row => [{ text: ` ${keys.padEnd(23)}`, style: 'chosen' }, { text: what }])
  const head: Row[] = [
    [
      { text: ' Keys', style: 'strong' },
      { text: '   the foot of the screen shows those that do something now', style: 'faint' },
    ],
    [],
  ]
  const foot: Row[] = [[], [{ text: ' A paste of an invitation takes it. Any key goes back.', style: 'faint' }]]
  return <Rows rows={[...head, ...lines, ...foot]} height={rows} width={columns} />
}

/** An invitation as a QR code, or as its URL with the reason where there is no room. The code brings its own colours, which it needs. */
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
    const lines = [...wrap(why, columns - 2), '', ...wrap(url, columns - 2)].map((text): Row => [{ text: ` ${text}` }])
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
  return <Rows rows={wrap(text, Math.max(columns, 1)).map((line): Row => [{ text: line }])} height={Math.max(rows, 1)} width={columns} />
}

const steps: readonly (readonly [key: string, what: string, command: string])[] = [
  ['n 1', 'invite somebody to connect', 'agent connection invite --label Bob'],
  ['n 2', 'take an invitation, or just paste it', 'agent connection accept "<url>"'],
  ['n 5', 'make a DID, which credentials are about', 'agent did create'],
  ['n 3', 'offer a credential', 'agent credential offer --connection <id> …'],
]

/** What to begin with, while the wallet is empty. */
export function FirstSteps({ width, height }: { width: number; height: number }) {
  const rows: Row[] = [
    [],
    [{ text: '  This wallet is new: there is nothing in it yet. First steps:', style: 'strong' }],
    [],
    ...steps.flatMap(([key, what, command]): Row[] => [
      [{ text: `  ${key}  `, style: 'chosen' }, { text: what }],
      [{ text: `       ${command}`, style: 'faint' }],
    ]),
    [],
    [{ text: '  What other programs do with the wallet appears here by itself.' }],
    [{ text: '  `agent demo` shows it all with two agents of its own.', style: 'faint' }],
  ]
  return <Rows rows={rows} height={height} width={width} />
}
