/** `agent demo --record`: the file, and what its pictures show. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GifReader } from 'omggif'
import { describe, expect, test } from 'vitest'
import { startRecording } from '../../cli/demo/recording.ts'
import { drawQr } from '../../cli/qr/draw.ts'
import { drawRecording } from '../../cli/recording/draw.ts'
import { cellHeight, cellWidth, glyphOf } from '../../cli/recording/font.ts'
import { newFolder } from '../_folder.ts'
import { useUser } from './_cli.ts'
import { readQr } from './_qr.ts'

const screen = { columns: 100, rows: 30 }
const url = 'http://127.0.0.1:43141/i?_oobid=Ab3dEf6hIj9kLm2n'

describe('the file', () => {
  test('is an asciicast with the pace of a reader', async () => {
    const path = join(newFolder(), 'a.cast')
    const recording = startRecording(path, 'agent demo', screen, 100)
    recording.print('one\n  two', 3)
    recording.print('\u001b[1mthree\u001b[22m', 1)
    recording.print('four', 1)
    await recording.save()
    const [header, ...moments] = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(header).toEqual({
      version: 2,
      width: 100,
      height: 30,
      timestamp: expect.any(Number),
      title: 'agent demo',
    })
    expect(moments.map(([, kind, text]) => [kind, text])).toEqual([
      ['o', 'one\r\n  two\r\n'],
      ['o', '\u001b[1mthree\u001b[22m\r\n'],
      ['o', 'four\r\n'],
    ])
    const [first, second, third] = moments.map(([seconds]) => Math.round(1_000 * seconds))
    expect(second! - first!).toBeGreaterThanOrEqual(300)
    expect(third! - second!).toBeGreaterThanOrEqual(100)
  })

  test('is not overwritten, also if it appears during the demo', async () => {
    const path = join(newFolder(), 'a.svg')
    const recording = startRecording(path, 'agent demo', screen)
    recording.print('one', 1)
    writeFileSync(path, 'precious')
    await expect(recording.save()).rejects.toThrow(`${path} cannot be written`)
    expect(() => startRecording(path, 'agent demo', screen)).toThrow('exists. Choose another name')
    expect(readFileSync(path, 'utf8')).toBe('precious')
  })

  test.each([
    ['demo.mp4', /demo\.mp4 must end in \.cast, \.svg or \.gif/],
    ['demo', /demo must end in \.cast, \.svg or \.gif/],
    ['no/such.gif', /the folder .*no is not writable: there is no such file or folder/],
  ])('%s is refused before anything starts', (name, reason) => {
    expect(() => startRecording(join(newFolder(), name), 'agent demo', screen)).toThrow(reason)
  })

  const user = useUser()

  test('is a picture of the demo that the built program draws', async () => {
    const folder = join(user.folder, 'made')
    mkdirSync(folder)
    const { code, err } = await user.run`demo --scenario connect --record ${join(folder, 'demo.gif')}`
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const reader = new GifReader(readFileSync(join(folder, 'demo.gif')))
    expect([reader.width, reader.height]).toEqual([80 * cellWidth, 24 * cellHeight])
    expect(reader.numFrames()).toBeGreaterThan(20)
  })
})

/** A QR code and a line of text after it. */
const printed = async () => {
  const qr = drawQr(url, screen)
  if (!('lines' in qr)) throw new Error(qr.reason)
  return [
    { atMs: 0, text: '\u001b[2mfirst\u001b[22m\r\n' },
    { atMs: 500, text: `${qr.lines.join('\r\n')}\r\n` },
    { atMs: 1_000, text: '\u001b[1m\u001b[36mAg\u001b[39m\u001b[22m a <b>\r\n' },
  ]
}

test('a GIF shows legible text, and a QR code that can be scanned', async () => {
  const bytes = (await drawRecording('gif', {
    title: 'A title',
    ...screen,
    printed: await printed(),
  })) as Uint8Array
  const reader = new GifReader(Buffer.from(bytes))
  const { width, height } = reader
  const pixels = new Uint8ClampedArray(width * height * 4)
  const isLit = (row: number, x: number, y: number) =>
    pixels
      .slice(4 * ((row * cellHeight + y) * width + x))
      .slice(0, 3)
      .some((part) => part > 100)
  expect(reader.numFrames()).toBe(3)
  for (const frame of [0, 1, 2]) reader.decodeAndBlitFrameRGBA(frame, pixels)
  expect([0, 1, 2].map((frame) => reader.frameInfo(frame).delay * 10)).toEqual([500, 500, 6_000])
  expect(readQr({ width, height, data: pixels })).toEqual({ qr: url, jsqr: url })
  // The pixels of the last line are those of the font.
  for (const [column, char] of [...'Ag a <b>'].entries())
    for (let y = 0; y < cellHeight; y++) {
      const row = Array.from({ length: cellWidth }, (_, x) => (isLit(18, column * cellWidth + x, y) ? 1 : 0))
      expect(Number.parseInt(row.join(''), 2), `${char}, row ${y}`).toBe(glyphOf(char)[y])
    }
})

test('an SVG shows the text, the styles and the times of a terminal, and draws blocks as shapes', async () => {
  const svg = await drawRecording('svg', {
    title: 'A <title>',
    columns: 20,
    rows: 2,
    printed: [
      { atMs: 0, text: 'a <b>\r\n' },
      {
        atMs: 1_000,
        text: `\u001b[31mred\u001b[0m and \u001b[1mbold\u001b[0m   ▀▀█│\r\n${'x'.repeat(21)}\r\n`,
      },
    ],
  })
  expect(svg).toContain('<title>A &lt;title&gt;</title>')
  expect(svg).toContain('a &lt;b&gt;</text>')
  expect(svg).toMatch(/class="b"[^>]*>bold</)
  expect(svg).toMatch(/style="fill:#[0-9a-f]{6}">red</)
  expect(svg).toMatch(/<path d="M126 18h16\.8v9h-16\.8zM142\.8 18h8\.4v18h-8\.4z/)
  expect(svg).not.toMatch(/[▀█│]|<script/)
  // After a seventh of the time, four lines have moved up by two.
  expect(svg).toContain('@keyframes lines{0%{transform:translateY(0px)}14.29%{transform:translateY(-36px)}}')
  expect(svg).toContain('@keyframes cover{0%{transform:translateY(18px)}14.29%{transform:translateY(36px)}}')
})
