/** Prompts in place of the details. */
import { Box } from 'ink'
import { safeLine, shorten, widthOf } from '../../format/text.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Field, Prompt } from '../session/prompt.ts'
import type { Layout } from '../session/ui.ts'
import { Frame } from './frame.tsx'
import { Line, Lines, Paragraph, Place, selected, Typed } from './text.tsx'

type Question = Extract<Prompt, { kind: 'confirm' | 'choose' | 'fill' }>
type Props<Kind> = { prompt: Extract<Question, { kind: Kind }> }

const keys = {
  confirm: 'y yes   n no',
  choose: '↑↓ move   Enter select   Esc cancel',
  fill: 'Tab next field   Enter done   Esc cancel',
}

/** A question with its keys. */
export function Question({ prompt, ...frame }: { prompt: Question; isJoined: boolean } & Layout['details']) {
  return (
    <Frame title={prompt.kind === 'confirm' ? 'Confirm' : prompt.title} isActive {...frame}>
      <Box flexDirection="column" overflow="hidden">
        <Box flexDirection="column" flexShrink={0}>
          {prompt.kind === 'confirm' && <Confirm prompt={prompt} />}
          {prompt.kind === 'choose' && (
            <Choose prompt={prompt} columns={frame.text} room={frame.height - 2} />
          )}
          {prompt.kind === 'fill' && <Fill prompt={prompt} columns={frame.text} room={frame.height - 2} />}
        </Box>
      </Box>
      <Box marginTop={1} flexShrink={0}>
        <Line row={[{ text: `${keys[prompt.kind]}${placeIn(prompt, frame.height - 2)}`, style: 'faint' }]} />
      </Box>
    </Frame>
  )
}

/** Which field of a form is the current one, if there may be more than are shown. */
function placeIn(prompt: Question, room: number): string {
  if (prompt.kind !== 'fill' || prompt.fields.length <= room - noteLines) return ''
  return `   field ${prompt.at + 1} of ${prompt.fields.length}`
}

function Confirm({ prompt: { question, lines } }: Props<'confirm'>) {
  return (
    <Box flexDirection="column" paddingX={2}>
      <Paragraph text={question} style="strong" />
      {lines.map((line, index) => (
        <Paragraph key={index} text={line} />
      ))}
    </Box>
  )
}

/** Lines of options that lines above them leave at least. */
const leastOptions = 3

/** Lines of the note below a form, with a blank one above it. */
const noteLines = 2

type Room = { columns: number; room: number }
type ChooseProps = Props<'choose'> & Room

function Choose({ prompt: { options, at, lines = [] }, columns, room: most }: ChooseProps) {
  const above = lines
    .flatMap((line) => wrap(safeLine(line), columns - 4))
    .slice(0, Math.max(most - leastOptions - 1, 0))
    .map((text): Row => [{ text: `  ${text}` }])
  if (above.length > 0) above.push([])
  const room = most - above.length
  const first = Math.max(Math.min(at - Math.floor(room / 2), options.length - room), 0)
  const rowOf = (index: number): Row => {
    const { label, detail = '' } = options[index]!
    const name = shorten(safeLine(label), columns - 6, 'middle')
    const row: Row = [
      { text: `${index === at ? '›' : ' '} ${index < 9 ? index + 1 : ' '} `, style: 'chosen' },
      { text: name },
      { text: detailBeside(safeLine(detail), columns - 6 - widthOf(name)), style: 'faint' },
    ]
    return index === at ? selected(row, columns) : row
  }
  return (
    <>
      <Lines rows={above} />
      {[...options.keys()].slice(first, first + room).map((index) => (
        <Place key={index} isCursor={index === at}>
          <Line row={rowOf(index)} />
        </Place>
      ))}
    </>
  )
}

/** Returns the detail beside an option. Ids are shortened, other texts omitted if they do not fit. */
function detailBeside(detail: string, room: number): string {
  const isShort = widthOf(detail) + 2 <= room
  if (detail === '' || (!isShort && (detail.includes(' ') || room < 14))) return ''
  return `  ${shorten(detail, room - 2, 'middle')}`
}

function Fill({ prompt: { fields, at, note, problem }, columns, room: most }: Props<'fill'> & Room) {
  const names = Math.max(...fields.map(({ label }) => widthOf(label)))
  const text = problem === undefined ? (fields[at]!.help ?? note) : `✗ ${problem}`
  const below = text === undefined ? 0 : 1 + wrap(text, columns - 4).length
  const lines = fields.map((field) => linesOf(field, columns - names - 4))
  const [first, end] = shownOf(lines, at, Math.max(most - below, 1))
  return (
    <>
      {[...fields.entries()].slice(first, end).map(([index, field]) => (
        <Box key={field.name} flexShrink={0}>
          <Box width={names + 4} flexShrink={0}>
            <Line
              row={[
                { text: index === at ? '› ' : '  ', style: 'chosen' },
                { text: field.label, style: index === at ? 'strong' : 'faint' },
              ]}
            />
          </Box>
          <Value field={field} isAt={index === at} />
        </Box>
      ))}
      {text !== undefined && (
        <Box paddingX={2} marginTop={1}>
          <Paragraph text={text} style={problem === undefined ? 'faint' : 'bad'} />
        </Box>
      )}
    </>
  )
}

/** Lines that the value of a field takes. */
function linesOf({ value, hint = '', words }: Field, columns: number): number {
  if (!words) return value === '' ? wrap(hint, Math.max(columns - 1, 1)).length : 1
  let used = 0
  let lines = 1
  for (const word of words) {
    const width = widthOf(word) + '[] '.length
    if (used > 0 && used + width > columns) lines += 1
    used = used > 0 && used + width > columns ? width : used + width
  }
  return lines
}

/** The first and the end of the fields that fit into `room` lines, the current one among them. */
function shownOf(lines: readonly number[], at: number, room: number): [first: number, end: number] {
  const sum = (first: number, end: number) => lines.slice(first, end).reduce((all, each) => all + each, 0)
  let [first, end] = [at, at + 1]
  while (first > 0 && sum(first - 1, end) <= room) first -= 1
  while (end < lines.length && sum(first, end + 1) <= room) end += 1
  return [first, end]
}

/** The options of a field, or its value, or its placeholder. */
function Value({ field: { value, hint = '', words }, isAt }: { field: Field; isAt: boolean }) {
  if (words)
    return (
      <Box flexWrap="wrap">
        {words.map((word) => (
          <Place key={word} isCursor={isAt && word === value}>
            <Line row={[word === value ? { text: `[${word}] `, style: 'chosen' } : { text: ` ${word}  ` }]} />
          </Place>
        ))}
      </Box>
    )
  return (
    <>
      <Typed text={value} isHere={isAt} />
      <Box flexShrink={1}>{value === '' && <Paragraph text={hint} style="faint" />}</Box>
    </>
  )
}
