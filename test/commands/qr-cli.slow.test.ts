/** `--qr` and `--qr-file` at the command line, in terminals of several sizes and without one. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../support/agent.ts'
import { fails, hasScript, type Line, newUser, prints, words } from './_cli.ts'
import { readPng, toPicture } from './_picture.ts'
import { readQr } from './_qr.ts'
import { drawScreen, type Picture } from './_screen.ts'
import { untilEnd } from '../support/shared.ts'

const user = newUser()
const terminal = { TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: '', LC_CTYPE: '' }

const agent = await untilEnd(startAgent({ API_KEY_ENABLED: 'false' }))
const env = { AGENT_URL: agent.url, ...terminal }
afterAll(async () => {
  user.remove()
})

const run = (...line: Line) => user.run(words(...line), { env })
const isDrawn = (line: string) => line.startsWith('\u001b[38;5;231') || line.startsWith('\u001b[48;5;')
const urlIn = (out: string) => out.split('\n').find((line) => line.startsWith('http'))!
const loopback = 'This computer only. For phones: agent daemon restart --lan'
const readCode = (out: string, cellWidth = 4) =>
  readQr(drawScreen(out.split('\n').filter(isDrawn), 'dark', cellWidth)).jsqr

describe.skipIf(!hasScript())('in a terminal', () => {
  type Invite = (
    columns: number,
    rows: number,
    args?: string[],
    more?: Record<string, string>,
  ) => ReturnType<typeof user.runSized>
  const invite: Invite = (columns, rows, args = [], more = {}) =>
    user.runSized(['connection', 'invite', ...args], { columns, rows }, { ...env, ...more })
  const inviteInTerminal: Invite = (columns, rows, args = [], more = {}) =>
    user.runInTerminal(['connection', 'invite', ...args], { columns, rows }, { ...env, ...more })

  test.each([
    [80, 24],
    [100, 46],
    [40, 60],
  ])('prints the URL, the reason and an alternative for a long URL at %i × %i', async (columns, rows) => {
    const { code, out } = await invite(columns, rows, ['--long'])
    expect(code).toBe(0)
    expect(out.split('\n').filter(isDrawn)).toEqual([])
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /No QR code: it needs \d+×\d+ characters, and there are \d+×\d+\. Page or picture \(--qr png\):/,
    )
    const show = /^ {2}agent (connection show \S+ --long) --open$/m.exec(out)![1]!
    const file = join(user.folder, `${columns}.png`)
    const { code: drawn, err } = await user.as(env).run`${show.split(' ')} --qr-file ${file}`
    expect({ drawn, err }).toMatchObject({ drawn: 0 })
    expect(readQr(readPng(readFileSync(file))).qr).toBe(urlIn(out))
  })

  test('a QR code that is too large is drawn smaller', async () => {
    const { out } = await invite(200, 60, ['--long', '--qr', 'large'])
    expect(readCode(out)).toBe(urlIn(out))
  })

  test('--qr none and a dumb terminal have no QR code and no reason', async () => {
    for (const [args, more] of [
      [['--qr', 'none'], {}],
      [[], { TERM: 'dumb' }],
    ] as const) {
      const { out } = await invite(200, 60, [...args], more)
      expect(out.split('\n')[0]).toMatch(/^https?:/)
      expect(out).not.toContain('QR')
      expect(out).not.toContain('\u001b')
    }
  })

  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['colours', { NO_COLOR: '' }],
    ['sizes in COLUMNS and LINES that are not those of the terminal', { COLUMNS: 'many', LINES: '-3' }],
  ])('%s: the code is the same', async (_, more) => {
    const { out } = await inviteInTerminal(100, 60, ['--long'], more)
    expect(readCode(out)).toBe(urlIn(out))
  })

  test('a terminal of 0 × 0 counts as one of 80 × 24', async () => {
    expect((await inviteInTerminal(0, 0, ['--long'])).out).toContain('and there are 80×24.')
  })

  test('a locale without half blocks has spaces', async () => {
    const { out } = await invite(200, 100, ['--long'], { LC_ALL: 'C' })
    expect(out).toMatch(/^[\0-\x7f]*$/)
    expect(readCode(out, 2)).toBe(urlIn(out))
  })

  test('the code is the last output before the command waits', async () => {
    const { code, out } = await invite(100, 60, ['--long', '--wait', '--timeout', '1s'])
    expect(code).toBe(6)
    const lines = out.split('\n')
    const at = lines.findLastIndex(isDrawn)
    expect(lines.findIndex((line) => line.startsWith('Waiting '))).toBeLessThan(lines.findIndex(isDrawn))
    expect(lines.slice(at + 1, at + 3)).toEqual([loopback, expect.stringMatching(/^connection /)])
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
  expect(readCode(out)).toBe(lines[0])
})

describe('a QR code file', () => {
  const path = (name: string) => join(user.folder, name)

  test('encodes the URL as SVG or PNG, chosen by extension or --qr', async () => {
    const svg = await run`connection invite --qr-file ${path('a.svg')}`
    expect(svg).toMatchObject({ code: 0, err: expect.stringContaining(`QR code: ${path('a.svg')}`) })
    expect(readQr(readSvg(path('a.svg')))).toEqual({ qr: svg.out, jsqr: svg.out })
    const png = await run`connection invite --qr png --qr-file ${path('code')} --json`
    const { shortUrl } = JSON.parse(png.out).invitation
    expect(readQr(readPng(readFileSync(path('code'))))).toEqual({ qr: shortUrl, jsqr: shortUrl })
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

test('a DID request and a challenge have QR codes of a short link or of their text, until they are answered', async () => {
  for (const topic of ['onboard', 'signin']) {
    const file = join(user.folder, `${topic}.png`)
    const { code, out } = await run`${topic} create --from Zürich --qr-file ${file}`
    expect({ topic, code }).toEqual({ topic, code: 0 })
    const [id = ''] = (await run`${topic} list -q`).out.split('\n')
    const { shortUrl } = JSON.parse((await run`${topic} show ${id} --json`).out)
    expect(shortUrl).toMatch(/\/i\?_oobid=/)
    expect(readQr(readPng(readFileSync(file)))).toEqual({ qr: shortUrl, jsqr: shortUrl })
    const again = join(user.folder, `${topic}-again.svg`)
    expect((await run`${topic} show ${id} --long --qr-file ${again}`).out).toContain(out)
    expect(readQr(readSvg(again)).qr).toBe(out)
  }
})

test('a line below the code says which one it is, and what a wallet without short links needs', async () => {
  const size = { columns: 80, rows: 40 }
  for (const [line, note] of [
    ['connection invite', 'Short link. For a wallet that cannot open it, repeat with --long.'],
    ['onboard create', 'The code is a short link; a wallet that needs JSON: --long.'],
    ['onboard create --long', 'The code is the JSON text.'],
  ] as const) {
    const { out } = await user.runSized(line.split(' '), size, env)
    // Below them is the link, if it is not longer than a line.
    const below = out.slice(out.lastIndexOf('▀')).split('\n').slice(1, 3)
    expect(below).toEqual([loopback, note])
  }
})

test('an address that phones reach has no warning', async () => {
  const reachable = await sharedAgent({
    API_KEY_ENABLED: 'false',
    REST_SERVICE_URL: 'http://192.0.2.7:8085',
  })
  const size = { columns: 100, rows: 60 }
  for (const [url, warns] of [
    [reachable.url, false],
    [agent.url, true],
  ] as const) {
    for (const command of ['connection invite', 'onboard create', 'signin create']) {
      const { out } = await user.runSized([...words`${command.split(' ')}`, '--long'], size, {
        ...env,
        AGENT_URL: url,
      })
      expect({ command, warns: out.includes(loopback), isDrawn: out.split('\n').some(isDrawn) }).toEqual({
        command,
        warns,
        isDrawn: true,
      })
    }
  }
})

describe.skipIf(process.platform !== 'linux')('--open', () => {
  const programs = join(user.folder, 'bin')
  const opened = join(user.folder, 'opened')
  beforeAll(() => mkdirSync(programs))
  const browser = (script: string) =>
    writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const display = { PATH: programs, DISPLAY: ':0', WAYLAND_DISPLAY: '', BROWSER: '' }
  const open = (line: string, more = {}) =>
    user.run([...line.split(' '), '--open'], { env: { ...env, ...display, ...more } })

  test('opens the page of an invitation, a DID request or a challenge', async () => {
    browser(`printf %s "$1" > ${opened}`)
    for (const line of [
      'connection invite --long',
      'connection invite',
      'onboard create --long',
      'signin create --long',
      'signin create --quiet',
    ]) {
      const { code, err } = await open(line)
      expect({ line, code }).toEqual({ line, code: 0 })
      expect(err).not.toContain('browser')
      const page = await fetch(readFileSync(opened, 'utf8'), { headers: { accept: 'text/html' } })
      expect({ line, status: page.status, type: page.headers.get('content-type') }).toMatchObject({
        status: 200,
        type: expect.stringContaining('text/html'),
      })
    }
  })

  test('opens the page of an open record, and says when it is closed', async () => {
    browser(`printf %s "$1" > ${opened}`)
    const id = (await run`connection invite -q`).out
    expect((await open(`connection show ${id} --long`)).code).toBe(0)
    expect(readFileSync(opened, 'utf8')).toBe(
      (await run`connection show ${id} --long`).out.split('\n').at(-1),
    )
  })

  test.each([
    [
      'no display',
      'exit 0',
      { DISPLAY: '' },
      'there is no display (DISPLAY, WAYLAND_DISPLAY) and no BROWSER',
    ],
    ['no browser', 'exit 3', {}, 'xdg-open failed with 3'],
    ['no such program', 'exit 0', { PATH: '/nowhere' }, 'the program xdg-open is missing'],
  ])('with %s says so, and prints the URL', async (_, script, more, reason) => {
    browser(script)
    const { code, out, err } = await open('connection invite', more)
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining(`The browser was not opened: ${reason}.`),
    })
    expect(out).toMatch(/^http\S+$/)
  })

  test('does not wait for a browser that stays open', async () => {
    const closed = join(user.folder, 'closed')
    browser(`/bin/sleep 8; : > ${closed}`)
    expect(await open('connection invite')).toMatchObject({
      code: 0,
      err: expect.not.stringContaining('browser'),
    })
    expect(existsSync(closed)).toBe(false)
  })
})

/** An SVG of black bars on white, as the agent writes it. */
function readSvg(file: string): Picture {
  const text = readFileSync(file, 'utf8')
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(text)![1])
  const black = new Set<string>()
  for (const [, x, y, length] of text.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let n = 0; n < Number(length); n++) black.add(`${Number(x) + n},${y}`)
  return toPicture(4 * size, 4 * size, (x, y) => black.has(`${x >> 2},${y >> 2}`))
}
