/** Prompts in place of the details. */
import { safeLine, shorten, widthOf } from '../../format/text.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Field, Prompt } from '../session/prompt.ts'
import type { Layout } from '../session/ui.ts'
import { flow, tail } from './cells.ts'
import { fit, inOneStyle, type Block, type Line, type Part } from './compose.ts'

type Question = Extract<Prompt, { kind: 'confirm' | 'choose' | 'fill' }>

/** Returns a question with its keys, in place of the details. */
export function questionBlock(prompt: Question, { text: width, height }: Layout['details']): Block {
  const room = height - 2
  const rows =
    prompt.kind === 'confirm'
      ? confirmRows(prompt, width)
      : prompt.kind === 'choose'
        ? chooseRows(prompt, width, room)
        : fillRows(prompt, width)
  const keys = {
    confirm: 'y yes   n no',
    choose: '↑↓ move   Enter select   Esc cancel',
    fill: 'Tab next field   Enter done   Esc cancel',
  }[prompt.kind]
  return {
    title: prompt.kind === 'confirm' ? 'Confirm' : prompt.title,
    rows: [...rows.slice(0, room), [], [{ text: keys, style: 'faint' }]],
    height,
    padding: 1,
    isActive: true,
  }
}

function confirmRows({ question, lines }: Extract<Question, { kind: 'confirm' }>, width: number): Row[] {
  const details = lines
    .flatMap((line) => wrap(safeLine(line), width - 4))
    .map((text): Row => [{ text: `  ${text}` }])
  return [
    ...wrap(question, width - 4).map((text): Row => [{ text: `  ${text}`, style: 'strong' }]),
    ...details,
  ]
}

/** Lines of options that lines above them leave at least. */
const leastOptions = 3

function chooseRows(
  { options, at, lines = [] }: Extract<Question, { kind: 'choose' }>,
  width: number,
  most: number,
): Line[] {
  const above = lines
    .flatMap((line) => wrap(safeLine(line), width - 4))
    .slice(0, Math.max(most - leastOptions - 1, 0))
    .map((text): Row => [{ text: `  ${text}` }])
  if (above.length > 0) above.push([])
  const room = most - above.length
  const first = Math.max(Math.min(at - Math.floor(room / 2), options.length - room), 0)
  const shown = options.slice(first, first + room).map(({ label, detail = '' }, index): Line => {
    const isAt = first + index === at
    const number = first + index < 9 ? `${first + index + 1}` : ' '
    const name = shorten(safeLine(label), width - 6, 'middle')
    const line: Line = [
      { text: `${isAt ? '›' : ' '} ${number} `, style: 'chosen', isCursor: isAt },
      { text: name },
      { text: detailBeside(safeLine(detail), width - 6 - widthOf(name)), style: 'faint' },
    ]
    return isAt ? inOneStyle(fit(line, width), 'selected') : line
  })
  return [...above, ...shown]
}

/** Returns the detail beside an option. Ids are shortened, other texts omitted if they do not fit. */
function detailBeside(detail: string, room: number): string {
  const isShort = widthOf(detail) + 2 <= room
  if (detail === '' || (!isShort && (detail.includes(' ') || room < 14))) return ''
  return `  ${shorten(detail, room - 2, 'middle')}`
}

function fillRows({ fields, at, note, problem }: Extract<Question, { kind: 'fill' }>, width: number): Line[] {
  const names = Math.max(...fields.map(({ label }) => label.length))
  const rows = fields.flatMap((field, index) => fieldRows(field, { isAt: index === at, names, width }))
  const text = problem === undefined ? note : `✗ ${problem}`
  if (text === undefined) return rows
  const style = problem === undefined ? 'faint' : 'bad'
  return [...rows, [], ...wrap(text, width - 4).map((line): Row => [{ text: `  ${line}`, style }])]
}

/** Returns the lines of a field: its name and its value, options or placeholder. */
function fieldRows(
  { label, value, hint = '', words }: Field,
  { isAt, names, width }: { isAt: boolean; names: number; width: number },
): Line[] {
  const room = width - names - 5
  const shown = words
    ? flow(
        words.map((word): Part => ({
          text: word === value ? `[${word}] ` : ` ${word}  `,
          style: word === value ? 'chosen' : undefined,
          isCursor: isAt && word === value,
        })),
        room + 1,
      )
    : value === ''
      ? wrap(hint, room - 1).map((text, line): Line => [
          { text: isAt && line === 0 ? '▏' : '', isCursor: isAt && line === 0 },
          { text, style: 'faint' },
        ])
      : [[{ text: tail(value, room) }, { text: isAt ? '▏' : '', isCursor: isAt }]]
  return shown.map((row, line) => [
    { text: isAt && line === 0 ? '› ' : '  ', style: 'chosen' },
    { text: (line === 0 ? label : '').padEnd(names + 2), style: isAt ? 'strong' : 'faint' },
    ...row,
  ])
}
