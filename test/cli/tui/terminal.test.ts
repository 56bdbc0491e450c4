/** The terminal: what is written to it, and what it sends. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createReader } from '../../../cli/tui/terminal/keys.ts'
import { openScreen } from '../../../cli/tui/terminal/screen.ts'

function screenOf(columns: number, rows: number) {
  const written: string[] = []
  const size = { columns, rows }
  const screen = openScreen({ size: () => size, write: (text) => written.push(text) })
  return { size, screen, taken: () => written.splice(0).join('').replaceAll('\u001b', '^') }
}

test('the terminal is restored once, with its cursor', () => {
  const { screen, taken } = screenOf(10, 3)
  expect(taken()).toBe('^[?1049h^[?25l^[?2004h^[2J')
  screen.leave()
  screen.leave()
  expect(taken()).toBe('^[?2004l^[?25h^[?1049l')
  screen.draw('late')
  screen.copy('late')
  screen.forget()
  expect(taken()).toBe('')
  screen.enter()
  expect(taken()).toBe('^[?1049h^[?25l^[?2004h^[2J')
})

test('only lines that differ are written, all at once', () => {
  const { screen, taken } = screenOf(10, 3)
  taken()
  screen.draw('one\ntwo\nthree')
  expect(taken()).toBe('^[?2026h^[1;1Hone^[K^[2;1Htwo^[K^[3;1Hthree^[K^[?2026l')
  screen.draw('one\n2\nthree')
  expect(taken()).toBe('^[?2026h^[2;1H2^[K^[?2026l')
  screen.draw('one\n2\nthree')
  expect(taken()).toBe('')
  screen.draw('one')
  expect(taken()).toBe('^[?2026h^[2;1H^[K^[3;1H^[K^[?2026l')
})

test('a line that is full keeps its last character, and nothing is written below the screen', () => {
  const { screen, taken } = screenOf(5, 2)
  taken()
  screen.draw('\u001b[32m12345\u001b[39m\n你好5\nbelow')
  expect(taken()).toBe('^[?2026h^[1;1H^[32m12345^[39m^[2;1H你好5^[?2026l')
})

test('after a resize the whole next frame is written', () => {
  const { screen, taken, size } = screenOf(10, 3)
  screen.draw('one\ntwo')
  taken()
  size.rows = 1
  screen.forget()
  screen.draw('one\ntwo')
  expect(taken()).toBe('^[2J^[?2026h^[1;1Hone^[K^[?2026l')
})

test('a copied text is base64, so that it cannot end the escape sequence', () => {
  const { screen, taken } = screenOf(10, 3)
  taken()
  screen.copy('did:\u0007…')
  expect(taken()).toBe(`^]52;c;${Buffer.from('did:\u0007…').toString('base64')}\u0007`)
})

/** What becomes of chunks that come at once, and of a pause after them. */
async function read(...chunks: string[]): Promise<string[]> {
  const got: string[] = []
  const reader = createReader(
    { press: (key) => got.push(key), paste: (text) => got.push(`pasted ${JSON.stringify(text)}`) },
    1,
  )
  for (const chunk of chunks) reader(chunk)
  // A lone Esc differs from the start of a sequence only by the pause after it. The reader's timer is older,
  // and fires first.
  await sleep(1)
  return got
}

test.each([
  ['\u001b[A', ['up']],
  ['\u001bOB', ['down']],
  ['\u001b[1;5C', ['right']],
  ['\u001b[5~', ['pageup']],
  ['\u001b[6;5~', ['pagedown']],
  ['\u001b[3~', ['backspace']],
  ['\u001b[H\u001b[4~', ['home', 'end']],
  ['\t\u001b[Z', ['tab', 'shift-tab']],
  ['\u0003\u0015\b\u007f', ['ctrl-c', 'ctrl-u', 'backspace', 'backspace']],
  ['jj\rä', ['j', 'j', 'enter', 'ä']],
  ['\u001bOP\u001b[15~\u001b[[Ax', ['f1', 'f5', 'f1', 'x']],
])('%j is the keys %j', async (chunk, keys) => {
  expect(await read(chunk)).toEqual(keys)
})

test.each([
  ['\u001b', ['escape']],
  ['\u001b1', ['escape', '1']],
  ['\u001b/', ['escape', '/']],
  ['\u001bä', ['escape', 'ä']],
  ['\u001b\r', ['escape', 'enter']],
  ['\u001b\t', ['escape', 'tab']],
  ['\u001b\u0003', ['escape', 'ctrl-c']],
  ['\u001b\u001b', ['escape', 'escape']],
  ['\u001b\u001b[A', ['escape', 'up']],
  ['n1\u001b2x', ['n', '1', 'escape', '2', 'x']],
])('Esc is a key of its own, whatever follows it: %j is the keys %j', async (chunk, keys) => {
  expect(await read(chunk)).toEqual(keys)
})

test('a sequence may arrive in parts, and Esc may precede a character', async () => {
  expect(await read('\u001b', '[', '1;', '5A', '\u001b', 'q')).toEqual(['up', 'escape', 'q'])
})

test('a link is a paste even without brackets, and fast typing is not', async () => {
  expect(await read('https://x/', '\tname\r')).toEqual([
    'pasted "https://x/"',
    'tab',
    'n',
    'a',
    'm',
    'e',
    'enter',
  ])
})

test('a paste in any number of parts triggers no keys', async () => {
  expect(await read('r\u001b[20', '0~', 'yy\r', '\u001b[A\ty', '\u001b[20', '1~j')).toEqual([
    'r',
    'pasted "yy\\n\\u001b[A\\ty"',
    'j',
  ])
})
