/** Two decoders read QR codes as terminals show them. Their sizes match docs/reference/qr.md. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { drawQr, renderingsFor, type Rendering, type Screen } from '../../cli/qr/draw.ts'
import { invitationOf, readQr } from './_qr.ts'
import { drawScreen, themes, type Theme } from './_screen.ts'

const every: Rendering[] = ['small', 'large']

/** The pixels per cell width that make a module four pixels wide. */
const cellWidths = { large: 2, small: 4 } as const satisfies Record<Rendering, number>

/** The number of decoders that read a text from the terminal. */
function readers(text: string, rendering: Rendering, theme: Theme): number {
  const { qr, jsqr } = readQr(drawScreen(drawn(text, rendering).lines, theme, cellWidths[rendering]))
  return [qr, jsqr].filter((read) => read === text).length
}

function drawn(text: string, rendering: Rendering, screen?: Screen) {
  const qr = drawQr(text, screen, [rendering])
  if ('reason' in qr) throw new Error(qr.reason)
  return qr
}

const lengths = [47, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_100, 1_200]

const long = lengths.filter((length) => length >= 400)
const looks = long.flatMap((length) => (Object.keys(themes) as Theme[]).map((theme) => ({ length, theme })))

describe('an invitation', () => {
  test.each(looks)(
    'of $length characters in half blocks is read by both decoders in a $theme theme',
    ({ length, theme }) => {
      expect(readers(invitationOf(length), 'small', theme)).toBe(2)
    },
  )

  test.each(looks.filter((_, index) => index % 4 === 1 || index % 4 === 2))(
    'of $length characters in full blocks is read by both in a $theme theme',
    ({ length, theme }) => {
      expect(readers(invitationOf(length), 'large', theme)).toBe(2)
    },
  )
})

describe.each(every)('drawn %s', (rendering) => {
  test('text of any script is readable', () => {
    const text = JSON.stringify({
      from: 'Ämter & Söhne – 公証人 🪪',
      onboardEndpoint: 'https://example.com/onboard',
    })
    expect(readers(text, rendering, 'dark')).toBe(2)
  })

  test('sets and resets its colours on each line', () => {
    for (const line of drawn(invitationOf(400), rendering).lines) {
      expect(['\u001b[38;5;', '\u001b[48;5;']).toContain(line.slice(0, 7))
      expect(line.endsWith('\u001b[0m')).toBe(true)
    }
  })

  test('has the declared width on every line', () => {
    const { lines, width } = drawn(invitationOf(400), rendering)
    // oxlint-disable-next-line no-control-regex
    for (const line of lines) expect(line.replaceAll(/\u001b\[[\d;]*m/g, '')).toHaveLength(width)
  })
})

test('docs/reference/qr.md has the actual sizes', () => {
  const shown = lengths.filter((length) => length < 200 || length % 200 === 0)
  const rows = shown.map((length) => {
    const sizes = every.map((rendering) => {
      const { width, lines } = drawn(invitationOf(length), rendering)
      return `${width} × ${lines.length}`
    })
    return `| ${length.toLocaleString('en')} | ${sizes.join(' | ')} |`
  })
  const table = ['| characters | small | large |', '|--:|--:|--:|', ...rows].join('\n')
  expect(readFileSync(new URL('../../docs/reference/qr.md', import.meta.url), 'utf8')).toContain(table)
})

describe('a terminal', () => {
  const url = invitationOf(600)
  const { width, lines } = drawn(url, 'small')

  test('that is just large enough shows half blocks', () => {
    expect(drawQr(url, { columns: width, rows: lines.length + 2, reserved: 2 })).toEqual({
      rendering: 'small',
      width,
      lines,
    })
  })

  test('that is too small for full blocks shows half blocks', () => {
    expect(drawQr(url, { columns: width, rows: lines.length }, ['large', 'small'])).toHaveProperty(
      'lines',
      lines,
    )
  })

  test('a terminal that is too small shows no QR code, with the reason', () => {
    const columns = width - 1
    const rows = lines.length + 1
    const needed = `it needs ${width}×${lines.length + 2} characters`
    for (const screen of [
      { columns, rows: 200 },
      { columns: 300, rows },
      { columns, rows },
    ])
      expect(drawQr(url, { ...screen, reserved: 2 })).toEqual({
        reason: `${needed}, and there are ${screen.columns}×${screen.rows}`,
      })
  })

  test('of no known size shows half blocks', () => {
    expect(drawQr(url, { columns: undefined, rows: undefined })).toEqual({ rendering: 'small', width, lines })
  })
})

test('a text that is too long yields a reason instead of a QR code', () => {
  expect(drawQr('x'.repeat(2_953))).toHaveProperty('lines')
  const none = { reason: 'the text is too long (2954 bytes, at most 2953)' }
  expect(drawQr('x'.repeat(2_954))).toEqual(none)
  expect(drawQr('é'.repeat(1_477))).toEqual(none)
})

describe('the rendering', () => {
  const utf8 = { TERM: 'xterm-256color', LANG: 'en_US.UTF-8' }
  const on = { isTTY: true }
  const cases: [string, Parameters<typeof renderingsFor>, ReturnType<typeof renderingsFor>][] = [
    ['half blocks', ['small', on, utf8], ['small']],
    ['full blocks when they are asked for', ['large', on, utf8], ['large', 'small']],
    ['blocks where no locale is set', ['small', on, { TERM: 'xterm' }], ['small']],
    [
      'by LC_ALL before LANG, unless it is empty',
      ['small', on, { LC_ALL: '', LC_CTYPE: 'C.utf8', LANG: 'C' }],
      ['small'],
    ],
    ['half blocks on the console of Linux', ['small', on, { ...utf8, TERM: 'linux' }], ['small']],
    ['the same with NO_COLOR', ['small', on, { ...utf8, NO_COLOR: '1' }], ['small']],
    [
      'nothing on a dumb terminal',
      ['large', on, { ...utf8, TERM: 'dumb' }],
      { reason: 'the terminal is dumb (TERM)' },
    ],
    [
      'nothing where there is no terminal',
      ['small', {}, utf8],
      { reason: 'standard output is not a terminal' },
    ],
    ['full blocks in a locale without half blocks', ['small', on, { ...utf8, LC_ALL: 'C' }], ['large']],
    ['full blocks in any locale', ['large', on, { LANG: 'de_DE.ISO-8859-1' }], ['large']],
  ]
  test.each(cases)('%s', (_, [asked, terminal, env], expected) => {
    expect(renderingsFor(asked, terminal, env)).toEqual(expected)
  })
})
