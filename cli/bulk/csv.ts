/**
 * Reads a CSV file (RFC 4180) with a header line: a column for each claim, and optionally `connection`. The
 * header line shows whether commas, semicolons or tabs separate the columns.
 */
import { statSync } from 'node:fs'
import { parse, CsvError } from 'csv-parse/sync'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { readBytes as readUpTo } from '../input/files.ts'
import { UsageError } from '../errors/errors.ts'
import type { Json } from '../input/files.ts'

/** The size of the largest file, in bytes. */
const maxBytes = 100_000_000

/** A line of the file. `line` is its number, as editors show it. */
export type Row = { line: number; connection?: string; claims: Record<string, Json> }

/** The content of a file, and the rows in it. */
export type Csv = { bytes: Buffer; rows: Row[]; hasConnections: boolean }

type Column = { name: string; isJson: boolean }

/**
 * Reads and checks all rows, so that a mistake in the last one is found before the first is used.
 *
 * @throws {UsageError} with the line and the column of the first mistake
 */
export function readCsv(path: string): Csv {
  const bytes = readBytes(path)
  const lines = parseLines(path, bytes)
  const [header, ...records] = lines
  if (!header) throw new UsageError(`--csv: ${path} is empty. Its first line must name the columns.`)
  const columns = header.record.map(toColumn)
  checkColumns(path, columns)
  if (records.length === 0) throw new UsageError(`--csv: ${path} has a header line, and no rows.`)
  return {
    bytes,
    rows: records.map(({ record, info }) => toRow(path, columns, record, info.lines)),
    hasConnections: columns.some(isConnection),
  }
}

function readBytes(path: string): Buffer {
  try {
    if (statSync(path).size > maxBytes)
      throw new UsageError(`--csv: ${path} is larger than ${maxBytes / 1_000_000} MB. Split the file.`)
    return readUpTo('csv', `@${path}`, maxBytes)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--csv: the file ${path} cannot be read: ${systemReason(error)}.`)
  }
}

type Line = { record: string[]; info: { lines: number } }

function parseLines(path: string, bytes: Buffer): Line[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return parse(bytes, {
      bom: true,
      delimiter: findDelimiter(path, text),
      info: true,
      skip_empty_lines: true,
      relax_column_count: true,
    }) as unknown as Line[]
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(`--csv: ${path} is not UTF-8. Save it as “CSV UTF-8”.`)
    if (!(error instanceof CsvError)) throw error
    const line = 'lines' in error ? `, line ${String(error.lines)}` : ''
    throw new UsageError(`--csv: ${path}${line}: ${faults[error.code] ?? error.message}.`)
  }
}

const delimiters = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const

/** The delimiter in the header line, outside of quotes. @throws {UsageError} for several */
function findDelimiter(path: string, text: string): string {
  const [, header = ''] = /^[\r\n]*((?:"[^"]*"|[^"\r\n])*)/.exec(text)!
  const plain = header.replaceAll(/"[^"]*"/g, '')
  const found = (Object.keys(delimiters) as (keyof typeof delimiters)[]).filter((each) =>
    plain.includes(each),
  )
  if (found.length > 1)
    throw new UsageError(
      `--csv: ${path}: the header line has ${found.map((each) => delimiters[each]).join(' and ')}, and one of them must separate the columns. Put names that contain the other in quotes.`,
    )
  return found[0] ?? ','
}

/** The faults of quotes in words. The library checks nothing else. */
const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a character follows a closing quote; write a quote inside a text twice',
  INVALID_OPENING_QUOTE: 'a text that contains a quote is not in quotes',
}

function toColumn(text: string): Column {
  const isJson = text.endsWith(':')
  return { name: (isJson ? text.slice(0, -1) : text).trim(), isJson }
}

const isConnection = ({ name }: Column) => name === 'connection'

function checkColumns(path: string, columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name)
  const empty = names.indexOf('')
  if (empty !== -1)
    throw new UsageError(`--csv: ${path}: column ${empty + 1} has no name in the header line.`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new UsageError(`--csv: ${path}: the header line names ${JSON.stringify(twice)} twice.`)
}

function toRow(path: string, columns: readonly Column[], record: readonly string[], line: number): Row {
  if (record.length !== columns.length)
    throw new UsageError(
      `--csv: ${path}, line ${line}: the row has ${record.length} columns, and the header line ${columns.length}.`,
    )
  const row: Row = { line, claims: {} }
  for (const [index, column] of columns.entries()) {
    const text = record[index]!
    if (isConnection(column)) {
      if (text === '') throw new UsageError(`--csv: ${path}, line ${line}: connection is empty.`)
      row.connection = text
    }
    // An empty cell is a claim that this row does not have.
    else if (text !== '') Object.defineProperty(row.claims, column.name, toProperty(path, line, column, text))
  }
  return row
}

/** An own property, also for a column named `__proto__`. */
function toProperty(path: string, line: number, { name, isJson }: Column, text: string): PropertyDescriptor {
  const property = { enumerable: true, configurable: true, writable: true }
  if (!isJson) return { ...property, value: text }
  try {
    return { ...property, value: JSON.parse(text) as Json }
  } catch {
    throw new UsageError(
      `--csv: ${path}, line ${line}: ${name} is not JSON, and its column is called ${name}:. For texts, call it ${name}.`,
    )
  }
}
