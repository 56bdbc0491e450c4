/** QR codes as images inside a terminal. The exact bytes are decoded back to pixels, and those to the text. */
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawImage, findGraphics, type Graphics, type Protocol } from '../../cli/qr/inline-image.ts'
import { askTerminal } from '../../cli/qr/terminal-query.ts'
import { startAgent, type TestAgent } from '../_agent.ts'
import { hasScript, newUser } from './_cli.ts'
import { imageIn } from './_inline-image.ts'
import { invitationOf, readQr } from './_qr.ts'

const screens = [
  { columns: 60, rows: 20, reserved: 2 },
  { columns: 80, rows: 24, reserved: 2 },
  { columns: 200, rows: 60, reserved: 2 },
]
const lengths = [47, 170, 600, 1_200]
const protocols: Graphics[] = [
  { protocol: 'kitty' },
  { protocol: 'iterm2' },
  { protocol: 'sixel' },
  { protocol: 'sixel', cell: { width: 8, height: 17 } },
  { protocol: 'sixel', cell: { width: 18, height: 40 } },
]

test.each(protocols)('$protocol images are read by both decoders and fit the screen', (graphics) => {
  const { width, height } = graphics.cell ?? { width: 10, height: 20 }
  for (const screen of screens)
    for (const length of lengths) {
      const text = invitationOf(length)
      const image = drawImage(text, graphics, screen)
      if ('reason' in image) {
        // Two pixels per module, with a quiet zone of four modules on both sides.
        expect(image.reason).toMatch(/^it needs \d+×\d+ characters, and there are \d+×\d+$/)
        expect(2 * 8 + 2 * 97).toBeGreaterThan((screen.rows - 2) * height)
        continue
      }
      expect(image.rows).toBeLessThanOrEqual(screen.rows - 2)
      const shown = imageIn(image.sequence)
      expect(shown.protocol).toBe(graphics.protocol)
      expect(readQr(shown.picture)).toEqual({ qr: text, jsqr: text })
      if (shown.rows !== undefined) expect(shown.rows).toBe(image.rows)
      else expect(Math.ceil(shown.picture.height / height)).toBe(image.rows)
      if (shown.rows === undefined) expect(shown.picture.width).toBeLessThanOrEqual(screen.columns * width)
    }
})

test('a text that is too long yields a reason', () => {
  expect(drawImage('x'.repeat(2_954), { protocol: 'kitty' }, screens[2]!)).toEqual({
    reason: 'the text is too long (2954 bytes, at most 2953)',
  })
})

describe('a terminal', () => {
  const silent = () => Promise.resolve('')
  const sixel = () => Promise.resolve('\u001b[6;20;10t\u001b[?62;4;22c')
  test.each<[string, Record<string, string>, Protocol | undefined]>([
    ['kitty', { TERM: 'xterm-kitty', KITTY_WINDOW_ID: '1' }, 'kitty'],
    ['kitty over SSH', { TERM: 'xterm-kitty' }, 'kitty'],
    ['Ghostty', { TERM: 'xterm-ghostty', TERM_PROGRAM: 'ghostty' }, 'kitty'],
    ['iTerm2', { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
    ['iTerm2 over SSH', { TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' }, 'iterm2'],
    ['WezTerm', { TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm', WEZTERM_PANE: '0' }, 'iterm2'],
    ['VTE', { TERM: 'xterm-256color', VTE_VERSION: '7600' }, undefined],
    ['tmux in kitty', { TERM: 'tmux-256color', TMUX: '/tmp/tmux', KITTY_WINDOW_ID: '1' }, undefined],
    ['screen in iTerm2', { TERM: 'screen', STY: '1', TERM_PROGRAM: 'iTerm.app' }, undefined],
    ['a dumb one', { TERM: 'dumb', KITTY_WINDOW_ID: '1' }, undefined],
  ])('%s is known by its variables', async (_, env, protocol) => {
    expect((await findGraphics(env, silent))?.protocol).toBe(protocol)
  })

  test('with sixel says so, with the size of its characters', async () => {
    expect(await findGraphics({ TERM: 'tmux-256color', TMUX: '1' }, sixel)).toEqual({
      protocol: 'sixel',
      cell: { width: 10, height: 20 },
    })
    expect(await findGraphics({ TERM: 'xterm' }, () => Promise.resolve('\u001b[?1;2;4c'))).toEqual({
      protocol: 'sixel',
    })
    expect(await findGraphics({ TERM: 'xterm' }, () => Promise.resolve('\u001b[?64;1;2c'))).toBeUndefined()
  })

  test('in continuous integration is not asked', async () => {
    expect(await findGraphics({ TERM: 'xterm', CI: 'true' }, sixel)).toBeUndefined()
  })
})

describe('a question', () => {
  function terminal(answer?: string) {
    const raw: boolean[] = []
    const input = Object.assign(new PassThrough(), {
      isTTY: true as const,
      setRawMode: (on: boolean) => raw.push(on),
    })
    const output = { isTTY: true, write: () => answer !== undefined && input.write(answer) }
    return { raw, terminal: { input: input as never, output } }
  }

  test('is answered up to the end of the reply', async () => {
    const { raw, terminal: asked } = terminal('\u001b[?62;4c')
    expect(await askTerminal('\u001b[c', /c$/, asked)).toBe('\u001b[?62;4c')
    expect(raw).toEqual([true, false])
  })

  test('without an answer ends, with the terminal as before', async () => {
    const { raw, terminal: asked } = terminal()
    expect(await askTerminal('\u001b[c', /c$/, asked)).toBe('')
    expect(raw).toEqual([true, false])
  })

  test('is not asked where there is no terminal', async () => {
    const { terminal: asked } = terminal('c')
    expect(await askTerminal('\u001b[c', /c$/, { ...asked, output: { ...asked.output, isTTY: false } })).toBe(
      '',
    )
  })
})

describe.skipIf(!hasScript())('the program', () => {
  const user = newUser()
  let agent: TestAgent
  beforeAll(async () => {
    agent = await startAgent({ API_KEY_ENABLED: 'false' })
  })
  afterAll(async () => {
    await agent[Symbol.asyncDispose]()
    user.remove()
  })
  const invite = (args: string[], variables: Record<string, string>) =>
    user.runInTerminal(
      ['connection', 'invite', ...args],
      { columns: 80, rows: 24 },
      { AGENT_URL: agent.url, LANG: 'C.UTF-8', TERM: 'xterm-256color', CI: '', TMUX: '', ...variables },
    )

  test.each<[Protocol, string[], Record<string, string>]>([
    ['kitty', ['--long'], { KITTY_WINDOW_ID: '1' }],
    ['iterm2', ['--long'], { TERM_PROGRAM: 'iTerm.app' }],
    ['iterm2', ['--qr', 'image'], { TERM_PROGRAM: 'WezTerm' }],
  ])('shows an image in %s with %j', async (protocol, args, variables) => {
    const { code, out } = await invite(args, variables)
    expect({ out, code }).toMatchObject({ code: 0 })
    const shown = imageIn(out)
    expect(shown.protocol).toBe(protocol)
    expect(readQr(shown.picture).jsqr).toBe(/^http\S+/m.exec(out)![0])
  })

  test('asks a terminal that it does not know, and goes on without an answer', async () => {
    const { code, out } = await invite(['--qr', 'image'], {})
    expect(code).toBe(0)
    expect(out).toContain('\u001b[c')
    expect(out).toContain('No QR code: this terminal shows no images. Page or picture (--qr png):')
  })

  test('asks nothing of a pipe', async () => {
    const { code, out, err } = await user.as({ AGENT_URL: agent.url }).run`connection invite --qr image`
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining('No QR code: standard output is not a terminal.'),
    })
    expect(out).toMatch(/^http\S+$/)
  })
})
