/** Pages in place of the lists. */
import { Box, Text } from 'ink'
import { drawQr, type Rendering } from '../../qr/draw.ts'
import { isLoopback } from '../../qr/link.ts'
import type { Row } from '../session/details.ts'
import { shownOf, type Page } from '../session/page.ts'
import type { Prompt } from '../session/prompt.ts'
import { least, type Size, type Ui } from '../session/ui.ts'
import { Frame } from './frame.tsx'
import { Line, Lines, Paragraph, Typed } from './text.tsx'

/** A page of lines on the whole screen, with its input line. */
export function PageView({ page, ui }: { page: Page; ui: Ui }) {
  const { shown, problemLines, note, ...area } = shownOf(page, ui)
  const { title, draft, copied } = page
  const keys = [
    draft !== undefined && 'Enter send',
    'Esc back',
    note !== '' && `${draft === undefined ? '↑↓ ' : ''}PgUp PgDn scroll`,
    copied !== undefined && 'y copy',
  ]
  return (
    <>
      <Frame title={title} note={note} isActive {...area}>
        <Box flexDirection="column" flexGrow={1}>
          <Lines rows={shown} />
        </Box>
        {draft !== undefined && <Typed mark="› " text={draft} />}
        <Lines rows={problemLines.map((text) => [{ text, style: 'bad' }])} />
      </Frame>
      <Line row={[{ text: ` ${keys.filter(Boolean).join('   ')}`, style: 'faint' }]} />
    </>
  )
}

/** The box of a page between the tabs and the keys. */
export function HelpBox({ page, ui }: { page: Page; ui: Ui }) {
  const { shown, note, ...area } = shownOf(page, ui)
  return (
    <Box flexGrow={1} justifyContent="center" alignItems="center">
      <Frame title={`${page.title} (Esc closes)`} note={note} isActive {...area}>
        <Lines rows={shown} />
      </Frame>
    </Box>
  )
}

/** The narrowest column of text beside a QR code. Otherwise the text is below it. */
const narrowestText = 20

export type QrLooks = {
  /** The renderings of QR codes, or why there are none. */
  renderings: readonly Rendering[] | { reason: string }
  /** Adds the profile of the dashboard to a suggested command. */
  forSameDaemon: (command: string) => string
}

type QrProps = { prompt: Extract<Prompt, { kind: 'qr' }>; ui: Ui; looks: QrLooks }

/**
 * An invitation as a QR code with its URL beside or below it, or why there is no code. The code has its own
 * colours.
 */
export function InvitationPage({ prompt: { title, url: shortest, longUrl, isLong }, ui, looks }: QrProps) {
  const { size, isPlain } = ui
  const { renderings, forSameDaemon } = looks
  const url = isLong ? longUrl : shortest
  const other = longUrl === shortest ? '' : `   l ${isLong ? 'short' : 'long'} URL`
  const height = size.rows - (isPlain ? 2 : 3)
  const width = size.columns - (isPlain ? 0 : 4)
  const qr = 'reason' in renderings ? renderings : drawQr(url, { columns: width, rows: height }, renderings)
  const why =
    'reason' in qr &&
    `No QR code: ${qr.reason}. A larger window or a smaller font makes room; y copies the URL.`
  const lan = `Only this computer reaches this address. For phones: ${forSameDaemon('agent daemon restart --lan')}`
  return (
    <>
      <Frame title={title} width={size.columns} height={height} isActive>
        <Box flexWrap="wrap" columnGap={2} flexShrink={0}>
          {'lines' in qr && (
            <Box flexDirection="column" width={qr.width} flexShrink={0}>
              {qr.lines.map((line, index) => (
                <Text key={index}>{line}</Text>
              ))}
            </Box>
          )}
          <Box flexDirection="column" rowGap={1} minWidth={narrowestText} flexGrow={1}>
            {isLoopback(url) && <Paragraph text={lan} style="waiting" />}
            <Paragraph text={why || 'Scan the code, or copy its URL:'} style={why ? undefined : 'strong'} />
            <Paragraph text={url} />
          </Box>
        </Box>
      </Frame>
      <Line row={[{ text: ` y copy the URL${other}   Esc back`, style: 'faint' }]} />
    </>
  )
}

export function TooSmall({ columns, rows }: Size) {
  const needed = `${least.columns}×${least.rows}`
  return (
    <Paragraph
      text={`The terminal has ${columns}×${rows}; the dashboard needs ${needed}. Make it larger, or press q.`}
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
export function FirstSteps({ width, height, looks }: { width: number; height: number; looks: QrLooks }) {
  const rows: Row[] = [
    [{ text: 'This wallet is new: there is nothing in it yet.', style: 'strong' }],
    [],
    ...steps.flatMap(([key, what, command]): Row[] => [
      [{ text: `${key}  `, style: 'chosen' }, { text: what }],
      [{ text: `     ${looks.forSameDaemon(command)}`, style: 'faint' }],
    ]),
    [],
    [{ text: 'Changes that other programs make appear here by themselves.' }],
    [{ text: '`agent demo` shows it all with two agents of its own.', style: 'faint' }],
  ]
  return (
    <Frame title="First steps" width={width} height={height} isActive>
      <Lines rows={rows} />
    </Frame>
  )
}
