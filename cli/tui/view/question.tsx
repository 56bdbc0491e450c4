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
          {prompt.kind === 'fill' && <Fill prompt={prompt} />}
        </Box>
      </Box>
      <Box marginTop={1} flexShrink={0}>
        <Line row={[{ text: keys[prompt.kind], style: 'faint' }]} />
      </Box>
    </Frame>
  )
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

type ChooseProps = Props<'choose'> & { columns: number; room: number }

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

function Fill({ prompt: { fields, at, note, problem } }: Props<'fill'>) {
  const names = Math.max(...fields.map(({ label }) => label.length))
  const text = problem === undefined ? note : `✗ ${problem}`
  return (
    <>
      {fields.map((field, index) => (
        <Box key={field.name}>
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
