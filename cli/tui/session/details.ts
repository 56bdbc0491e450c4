/** Formats the details of the selected item as lines. */
import { toStyled } from '../../format/colour.ts'
import type { Layout } from './ui.ts'
import { pad, safeLine, shorten, widthOf } from '../../format/text.ts'
import type { Line, Look, Pane, Piece, Section } from '../panes/pane.ts'

type Details = { lines: Row[]; aside: Row[]; asideTitle: string }

/** A line of the screen. */
export type Row = readonly Piece[]

const gap = 2
const maxNames = 18

/** Returns the lines of an item's details, and those of its timeline if the layout has an area for it. */
export function detailsOf<Item>(pane: Pane<Item>, item: Item, look: Look, layout: Layout): Details {
  const sections = pane.sections(item, look)
  const { details, aside } = layout
  if (!aside) return { lines: linesOf(sections, details.text), aside: [], asideTitle: '' }
  const titled = sections.filter(({ head }) => head !== undefined)
  const [first, ...others] = titled
  return {
    lines: linesOf(
      sections.filter((section) => !titled.includes(section)),
      details.text,
    ),
    aside: first ? linesOf([{ lines: first.lines }, ...others], aside.text) : [],
    asideTitle: first?.head ?? '',
  }
}

/** Returns the lines of sections, sanitised and wrapped. */
function linesOf(all: readonly Section[], columns: number): Row[] {
  const sections = all
    .map(({ head, lines }) => ({
      head,
      lines: lines.filter((line) => !isPair(line) || (line[1] !== undefined && line[1] !== null)),
    }))
    .filter(({ lines }) => lines.length > 0)
  const names = Math.min(
    Math.max(
      0,
      ...sections.flatMap(({ lines }) => lines.map((line) => (isPair(line) ? widthOf(line[0]) : 0))),
    ),
    maxNames,
  )
  return sections.flatMap(({ head, lines }) => [
    ...(head === undefined ? [] : [[], [{ text: head, style: 'strong' as const }]]),
    ...lines.flatMap((line) => rowsOf(line, names, columns)),
  ])
}

function isPair(line: Line): line is Exclude<Line, Piece> {
  return Array.isArray(line)
}

function rowsOf(line: Line, names: number, columns: number): Row[] {
  if (!isPair(line)) {
    const text = safeLine(line.text)
    if (widthOf(text) <= columns) return [[{ ...line, text }]]
    return wrap(text, columns - gap).map((part, index) => [
      { ...line, text: (index === 0 ? '' : ' '.repeat(gap)) + part },
    ])
  }
  const [name, value] = line
  const { style, text: unsafe } = toStyled(value)
  const text = safeLine(unsafe)
  const room = Math.max(columns - names - gap, 10)
  // A long value without spaces, such as a DID, is cut in the middle.
  const values =
    widthOf(text) > room && !/\s/.test(text) ? [shorten(text, room, 'middle')] : wrap(joinTimes(text), room)
  return values.map((each, index) => [
    { text: pad(index === 0 ? shorten(safeLine(name), names) : '', names + gap), style: 'faint' },
    { text: each.replaceAll(noBreak, ' '), style },
  ])
}

const noBreak = '\u00a0'

/** Joins the words of a distance in time, such as `in 29 d`, which must not be broken. */
function joinTimes(text: string): string {
  return text.replaceAll(/\b(?:in )?\d+ (?:d|h|min|s)\b(?: ago\b)?/g, (words) =>
    words.replaceAll(' ', noBreak),
  )
}

/** Breaks a text between words, and longer words anywhere. */
export function wrap(text: string, columns: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    const longer = last === '' ? word : `${last} ${word}`
    if (widthOf(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(...cut(word, columns))
  }
  return lines.length > 1 && lines[0] === '' ? lines.slice(1) : lines
}

function cut(word: string, columns: number): string[] {
  const pieces = ['']
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (widthOf(pieces.at(-1)! + segment) > columns) pieces.push('')
    pieces[pieces.length - 1] += segment
  }
  return pieces
}
