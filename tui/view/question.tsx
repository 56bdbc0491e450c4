/** Questions, in the place of the details. */
import { shorten } from '../../commands/_format/width.ts'
import { safeLine } from '../../commands/_format/safe.ts'
import type { Row } from '../session/details.ts'
import { wrap } from '../session/details.ts'
import type { Prompt } from '../session/prompt.ts'
import { rule } from './details.tsx'
import { Rows } from './row.tsx'

type Question = Extract<Prompt, { kind: 'confirm' | 'choose' | 'fill' }>

export function Question({ prompt, width, height }: { prompt: Question; width: number; height: number }) {
  const room = height - 3
  const rows =
    prompt.kind === 'confirm'
      ? confirmRows(prompt, width)
      : prompt.kind === 'choose'
        ? chooseRows(prompt, width, room)
        : fillRows(prompt, width)
  const keys = {
    confirm: 'y yes   n no',
    choose: '↑↓ choose   Enter take it   Esc leave',
    fill: 'Tab next field   Enter done   Esc leave',
  }[prompt.kind]
  const title = prompt.kind === 'confirm' ? '' : prompt.title
  return (
    <Rows
      rows={[rule(width, '', title), ...rows.slice(0, room), [], [{ text: `  ${keys}`, style: 'faint' }]]}
      height={height}
      width={width}
    />
  )
}

function confirmRows({ question, lines }: Extract<Question, { kind: 'confirm' }>, width: number): Row[] {
  const said = lines.flatMap((line) => wrap(safeLine(line), width - 4)).map((text): Row => [{ text: `  ${text}` }])
  return [...wrap(question, width - 4).map((text): Row => [{ text: `  ${text}`, style: 'strong' }]), ...said]
}

function chooseRows({ options, at }: Extract<Question, { kind: 'choose' }>, width: number, room: number): Row[] {
  const first = Math.max(Math.min(at - Math.floor(room / 2), options.length - room), 0)
  return options.slice(first, first + room).map(({ label, detail }, index): Row => {
    const isAt = first + index === at
    const number = first + index < 9 ? `${first + index + 1}` : ' '
    const said = detail === undefined ? '' : `  ${safeLine(detail)}`
    const name = shorten(safeLine(label), width - 6, 'middle')
    return [
      { text: `${isAt ? '›' : ' '} ${number} `, style: 'chosen' },
      { text: name, style: isAt ? 'strong' : undefined },
      { text: shorten(said, Math.max(width - 6 - name.length, 0), 'middle'), style: 'faint' },
    ]
  })
}

function fillRows({ fields, at, note, problem }: Extract<Question, { kind: 'fill' }>, width: number): Row[] {
  const names = Math.max(...fields.map(({ label }) => label.length))
  const rows = fields.map(({ label, value, hint, words }, index): Row => {
    const isAt = index === at
    const head: Row = [
      { text: isAt ? '› ' : '  ', style: 'chosen' },
      { text: `${label.padEnd(names)}  `, style: isAt ? 'strong' : 'faint' },
    ]
    const room = width - names - 5
    if (words)
      return [
        ...head,
        ...words.map((word) => ({
          text: word === value ? `[${word}] ` : ` ${word}  `,
          style: word === value ? ('chosen' as const) : undefined,
        })),
      ]
    // The end is what is being typed.
    const shown = value.length > room ? `…${value.slice(-(room - 1))}` : value
    return [...head, { text: shown }, { text: isAt ? '▏' : '' }, { text: value === '' && hint ? hint : '', style: 'faint' }]
  })
  if (problem !== undefined)
    return [...rows, [], ...wrap(`✗ ${problem}`, width - 4).map((text): Row => [{ text: `  ${text}`, style: 'bad' }])]
  return [...rows, ...(note === undefined ? [] : [[], [{ text: `  ${note}`, style: 'faint' as const }]])]
}
