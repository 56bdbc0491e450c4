import { describe, expect, test } from 'vitest'
import { drawQr, type Qr } from '../../commands/_ui/qr.ts'

function linesOf(qr: Qr): string[] {
  if ('reason' in qr) throw new Error(qr.reason)
  return qr.lines
}

// oxlint-disable-next-line no-control-regex
const withoutColours = (line: string) => line.replaceAll(/\u001b\[[\d;]*m/g, '')

/** The picture that a terminal shows, one row of pixels a string: `#` is black, `.` is white; the ground under the last line is not ours. */
function pixels(lines: string[]): string[] {
  return lines.map(withoutColours).flatMap((line) => {
    const upper = [...line].map((block) => (block === '█' || block === '▀' ? '.' : '#')).join('')
    const lower = [...line].map((block) => (block === '█' || block === '▄' ? '.' : '#')).join('')
    return [upper, lower]
  })
}

const margin = 2
// prettier-ignore
const finder = [
  '#######',
  '#.....#',
  '#.###.#',
  '#.###.#',
  '#.###.#',
  '#.....#',
  '#######',
]

describe.each([10, 300, 900])('the QR code of %i characters', (length) => {
  const lines = linesOf(drawQr('x'.repeat(length)))
  const picture = pixels(lines)
  const size = picture[0]!.length - 2 * margin

  test('is a square of a size that there is', () => {
    expect((size - 21) % 4).toBe(0)
    expect(picture.slice(0, size + 2 * margin).every((row) => row.length === size + 2 * margin)).toBe(true)
  })

  test('has black finder patterns in three corners, and not in the fourth', () => {
    const corner = (top: number, left: number) =>
      picture.slice(margin + top, margin + top + 7).map((row) => row.slice(margin + left, margin + left + 7))
    expect(corner(0, 0)).toEqual(finder)
    expect(corner(0, size - 7)).toEqual(finder)
    expect(corner(size - 7, 0)).toEqual(finder)
    expect(corner(size - 7, size - 7)).not.toEqual(finder)
  })

  test('has a white margin of two modules all around', () => {
    const white = '.'.repeat(size + 2 * margin)
    expect(picture.slice(0, margin)).toEqual([white, white])
    expect(picture.slice(margin + size, 2 * margin + size)).toEqual([white, white])
    expect(picture.slice(0, size + 2 * margin).every((row) => row.startsWith('..') && row.endsWith('..'))).toBe(true)
  })

  test('gives its colours outright and takes them back', () => {
    // oxlint-disable-next-line no-control-regex
    expect(lines.every((line) => /^\u001b\[38;5;231;4\d(;5;16)?m.*\u001b\[0m$/.test(line))).toBe(true)
  })
})

describe('a terminal', () => {
  const text = 'x'.repeat(300)
  const lines = linesOf(drawQr(text))
  const columns = withoutColours(lines[0]!).length
  const rows = lines.length + 1

  test('that is just large enough shows the code', () => {
    expect(drawQr(text, { columns, rows })).toEqual({ lines })
  })

  test('that is too narrow does not, and the reason says by how much', () => {
    expect(drawQr(text, { columns: columns - 1, rows })).toEqual({
      reason: `its QR code needs ${columns} columns and the terminal has ${columns - 1}`,
    })
  })

  test('that is too low does not', () => {
    expect(drawQr(text, { columns, rows: rows - 1 })).toHaveProperty('reason')
  })

  test('of no known size shows it', () => {
    expect(drawQr(text, { columns: undefined, rows: undefined })).toEqual({ lines })
  })
})

test('a text that is too long for any QR code is none, with a reason', () => {
  expect(drawQr('x'.repeat(2_953))).toHaveProperty('lines')
  expect(drawQr('x'.repeat(2_954))).toEqual({ reason: 'it is too long for a QR code (2954 characters)' })
})
