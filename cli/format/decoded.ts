/** Formats what `agent decode` has read. */
import type { Check, Decoded, FactValue } from '../../src/operations/decode/decoded.ts'
import type { Paint, Style } from './colour.ts'
import { pad, safe, safeJson, safeLine, shorten, widthOf, wrap } from './text.ts'
import { inWords } from './time.ts'

/**
 * The sections of content for people, in order, each with another that takes its place: the payload of an
 * SD-JWT is shown as its claims, those of a document as its elements.
 */
const sections = [
  ['header'],
  ['payload', 'claims'],
  ['claims', 'elements'],
  ['elements'],
  ['deviceClaims'],
  ['message'],
] as const

type Form = { width: number | undefined; paint: Paint; now: number }

/**
 * Returns the facts, the checks and the content of a text, and of those in it. Long values are cut to the
 * width.
 */
export function decodedText(decoded: Decoded, form: Form): string {
  return [describe(decoded, form), ...decoded.parts.map((part) => decodedText(part, form))].join('\n\n')
}

function describe({ title, facts, checks, content }: Decoded, form: Form): string {
  const { width = Infinity, paint, now } = form
  const rows = [
    ...Object.entries(facts).flatMap(([name, value]) => rowsOf(name, toTexts(name, value, now))),
    ...checks.map((check) => ({ name: check.name, text: `${check.result}: ${check.detail}`, check })),
  ]
  const names = Math.max(0, ...rows.map(({ name }) => widthOf(name)))
  const columns = Math.max(width - names - 2, 20)
  const lines = rows.flatMap(({ name, text, check }) =>
    wrap(safeLine(text), columns).map((line, index) => {
      const shown = shorten(line, columns, 'middle')
      return `${pad(index === 0 ? name : '', names)}  ${check && index === 0 ? paintResult(check, shown, paint) : shown}`
    }),
  )
  const shown = sections.filter(
    ([name, better]) => content[name] !== undefined && !(better && content[better] !== undefined),
  )
  return [
    paint('strong', title),
    ...lines,
    ...shown.map(([name]) => `\n${paint('strong', name.toUpperCase())}\n${json(content[name], width)}`),
    ...(typeof content['notation'] === 'string' ? ['', safe(content['notation'])] : []),
    ...(content['document'] === undefined ? [] : ['\nWith --json: the whole document.']),
  ].join('\n')
}

type Row = { name: string; text: string; check?: Check }

/** One row for each text. The name is before the first. */
const rowsOf = (name: string, texts: readonly string[]): Row[] =>
  texts.map((text, index) => ({ name: index === 0 ? name : '', text }))

function toTexts(name: string, value: FactValue, now: number): string[] {
  if (value === undefined) return []
  if (value instanceof Date) return [timeText(name, value, now)]
  return [value].flat().map(String)
}

/** Returns a time and its distance: `2026-11-20T10:00:00Z, expired 3 days ago`. */
function timeText(name: string, time: Date, now: number): string {
  const isOver = time.getTime() <= now
  const distance = inWords(time.getTime(), now)
  const words =
    name === 'expires' && isOver
      ? `expired ${distance}`
      : name === 'valid from' && !isOver
        ? `not valid yet: ${distance}`
        : distance
  return `${time.toISOString().replace('.000Z', 'Z')}, ${words}`
}

const styles: Record<Check['result'], Style> = { passed: 'good', failed: 'bad', 'not verified': 'waiting' }

const paintResult = ({ result }: Check, line: string, paint: Paint) =>
  line.startsWith(result) ? paint(styles[result], result) + line.slice(result.length) : line

function json(value: unknown, width: number): string {
  return safe(safeJson(value))
    .split('\n')
    .map((line) => shorten(line, width, 'middle'))
    .join('\n')
}
