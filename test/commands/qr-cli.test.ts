/** `--qr` and `--qr-file` at the command line, in terminals of several sizes and without one. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../_agent.ts'
import { fails, type Line, newUser, prints, words } from './_cli.ts'
import { readQr } from './_qr.ts'
import { drawScreen, type Picture } from './_screen.ts'

const user = newUser()
let agent: TestAgent
const terminal = { TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: '', LC_CTYPE: '' }
let env: Record<string, string>

beforeAll(async () => {
  agent = await startAgent({ API_KEY_ENABLED: 'false' })
  env = { AGENT_URL: agent.url, ...terminal }
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  user.remove()
})

const run = (...line: Line) => user.run(words(...line), { env })
const isDrawn = (line: string) => line.startsWith('\u001b[38;5;231') || line.startsWith('\u001b[48;5;')
const urlIn = (out: string) => out.split('\n').find((line) => line.startsWith('http'))!
const folded = (out: string) => out.replaceAll('\n', ' ')

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
}

describe.skipIf(!hasScript())('in a terminal', () => {
  const invite = (columns: number, rows: number, args: string[] = [], more: Record<string, string> = {}) =>
    user.runInTerminal(['connection', 'invite', ...args], { columns, rows }, { ...env, ...more })

  test.each([
    ['half blocks where they fit', 200, 60, 4],
    ['quadrants where it is too narrow for them', 80, 60, 8],
  ])('%s', async (_, columns, rows, cellWidth) => {
    const { code, out } = await invite(columns, rows)
    expect(code).toBe(0)
    const lines = out.split('\n').filter(isDrawn)
    const { qr, jsqr } = readQr(drawScreen(lines, 'dark', cellWidth))
    expect([qr, jsqr]).toContain(urlIn(out))
    expect(out.indexOf(urlIn(out))).toBeGreaterThan(out.indexOf(lines.at(-1)!))
    expect(out.includes('Half as wide as it should be')).toBe(cellWidth === 8)
  })

  test.each([
    [80, 24],
    [100, 40],
    [40, 60],
  ])('prints the URL, the reason and an alternative at %i × %i', async (columns, rows) => {
    const { code, out } = await invite(columns, rows)
    expect(code).toBe(0)
    expect(out.split('\n').filter(isDrawn)).toEqual([])
    expect(out).toMatch(/No QR code: it needs \d\d (?:lines|columns) \(there are \d\d\)/)
    const command = /^As a picture: agent (.+)$/m.exec(out)![1]!
    const { code: drawn, err } = await user.as(env)
      .run`${command.split(' ')} --qr-file ${join(user.folder, `${columns}.png`)}`
    expect({ drawn, err }).toMatchObject({ drawn: 0 })
    const { qr } = readQr(readPng(join(user.folder, `${columns}.png`)))
    expect(qr).toBe(urlIn(out))
  })

  test('a QR code that is too large is reduced, with a message', async () => {
    const { out } = await invite(200, 60, ['--qr', 'large'])
    expect(folded(out)).toContain('Drawn smaller than requested')
    expect(out.split('\n').filter(isDrawn).length).toBeGreaterThan(30)
  })

  test('--qr none prints no QR code and no reason', async () => {
    for (const [args, more] of [
      [['--qr', 'none'], {}],
      [[], { TERM: 'dumb' }],
      [[], { LC_ALL: 'C' }],
    ] as const) {
      const { out } = await invite(200, 60, [...args], more)
      expect(out.split('\n')[0]).toMatch(/^https?:/)
    }
  })

  test('a requested QR code on a dumb terminal gives a reason', async () => {
    expect((await invite(200, 60, ['--qr', 'small'], { TERM: 'dumb' })).out).toContain(
      'No QR code: the terminal is dumb (TERM).',
    )
  })
})

test('output to a pipe is the URL only, or a requested QR code of any size', async () => {
  expect(await run`connection invite`).toMatchObject(prints(0, /^https?:\S+$/))
  const { out } = await run`connection invite --qr small`
  const lines = out.split('\n')
  expect(lines.filter(isDrawn).length).toBeGreaterThan(40)
  expect(lines.at(-1)).toMatch(/^https?:\S+$/)
})

describe('a QR code file', () => {
  const path = (name: string) => join(user.folder, name)

  test('encodes the URL as SVG or PNG, chosen by extension or --qr', async () => {
    const svg = await run`connection invite --qr-file ${path('a.svg')}`
    expect(svg).toMatchObject({ code: 0, err: expect.stringContaining(`QR code: ${path('a.svg')}`) })
    expect(readQr(readSvg(path('a.svg')))).toEqual({ qr: svg.out, jsqr: svg.out })
    const png = await run`connection invite --qr png --qr-file ${path('code')} --json`
    const { invitationUrl } = JSON.parse(png.out).invitation
    expect(readQr(readPng(path('code')))).toEqual({ qr: invitationUrl, jsqr: invitationUrl })
  })

  test('is not overwritten, and then no record is created', async () => {
    writeFileSync(path('mine.png'), 'mine')
    const before = (await run`connection list -q`).out
    expect(await run`connection invite --qr-file ${path('mine.png')}`).toMatchObject(
      fails(2, 'exists. Choose another name, or remove it.'),
    )
    expect(readFileSync(path('mine.png'), 'utf8')).toBe('mine')
    expect((await run`connection list -q`).out).toBe(before)
  })

  test.each([
    [['--qr-file', 'a.txt'], 'ends in neither .svg nor .png'],
    [['--qr', 'small', '--qr-file', 'a.png'], 'writes no file'],
    [['--qr', 'png', '--qr-file', 'a.svg'], 'ends in .svg, and --qr says png'],
    [['--qr', 'png', '--qr-file', 'a.jpg'], 'a.jpg ends in .jpg, and --qr says png'],
    [['--qr', 'png', '--qr-file', '-'], 'Name a file'],
    [['--qr-file', join('nowhere', 'a.png')], 'the folder nowhere is not writable'],
    [['--qr', 'tiny'], '--qr'],
  ])('%j is a usage error with a remedy', async (flags, words) => {
    expect(await run`connection invite ${flags}`).toMatchObject(fails(2, words))
    expect(existsSync('a.png') || existsSync('a.svg')).toBe(false)
  })
})

test('a DID request and a challenge have QR codes until they are answered', async () => {
  for (const topic of ['onboard', 'auth']) {
    const file = join(user.folder, `${topic}.png`)
    const { code, out } = await run`${topic} create --from Zürich --qr-file ${file}`
    expect({ topic, code }).toEqual({ topic, code: 0 })
    expect(readQr(readPng(file))).toEqual({ qr: out, jsqr: out })
    const [id = ''] = (await run`${topic} list -q`).out.split('\n')
    const again = join(user.folder, `${topic}-again.svg`)
    expect((await run`${topic} show ${id} --qr-file ${again}`).out).toContain(out)
    expect(readQr(readSvg(again)).qr).toBe(out)
  }
})

/** A one-bit PNG, as the agent writes it. */
function readPng(file: string): Picture {
  const bytes = readFileSync(file)
  const width = bytes.readUInt32BE(16)
  const height = bytes.readUInt32BE(20)
  const lines = inflateSync(bytes.subarray(bytes.indexOf('IDAT') + 4, bytes.indexOf('IEND') - 8))
  const stride = 1 + Math.ceil(width / 8)
  return toPicture(width, height, (x, y) => (lines[y * stride + 1 + (x >> 3)]! & (0x80 >> (x & 7))) === 0)
}

/** An SVG of black bars on white, as the agent writes it. */
function readSvg(file: string): Picture {
  const text = readFileSync(file, 'utf8')
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(text)![1])
  const black = new Set<string>()
  for (const [, x, y, length] of text.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let n = 0; n < Number(length); n++) black.add(`${Number(x) + n},${y}`)
  return toPicture(4 * size, 4 * size, (x, y) => black.has(`${x >> 2},${y >> 2}`))
}

function toPicture(width: number, height: number, isBlack: (x: number, y: number) => boolean): Picture {
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let at = 0; at < width * height; at++)
    if (isBlack(at % width, Math.floor(at / width))) data.fill(0, 4 * at, 4 * at + 3)
  return { width, height, data }
}
