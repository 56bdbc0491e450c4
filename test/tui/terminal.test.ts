/** The terminal: what is written to it, and what it sends. */
import type { Key } from 'ink'
import { expect, test } from 'vitest'
import { createReader } from '../../tui/terminal/keys.ts'
import { openScreen } from '../../tui/terminal/screen.ts'

function screenOf(columns: number, rows: number) {
  const written: string[] = []
  const size = { columns, rows }
  const screen = openScreen({ size: () => size, write: (text) => written.push(text) })
  return { size, screen, taken: () => written.splice(0).join('').replaceAll('\u001b', '^') }
}

test('the terminal is taken, and given back once, with its cursor', () => {
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

test('after another size, all of the next frame is written', () => {
  const { screen, taken, size } = screenOf(10, 3)
  screen.draw('one\ntwo')
  taken()
  size.rows = 1
  screen.forget()
  screen.draw('one\ntwo')
  expect(taken()).toBe('^[2J^[?2026h^[1;1Hone^[K^[?2026l')
})

test('what is copied goes to the clipboard as base64, so that it can end nothing', () => {
  const { screen, taken } = screenOf(10, 3)
  taken()
  screen.copy('did:\u0007…')
  expect(taken()).toBe(`^]52;c;${Buffer.from('did:\u0007…').toString('base64')}\u0007`)
})

function read(...inputs: [input: string, key?: Partial<Key>][]) {
  const got: string[] = []
  const reader = createReader({ press: (key) => got.push(key), paste: (text) => got.push(`pasted ${JSON.stringify(text)}`) })
  for (const [input, key = {}] of inputs) reader(input, key as Key)
  return got
}

test('keys have names, and several may come together', () => {
  expect(read(['', { upArrow: true }], ['', { tab: true }], ['', { tab: true, shift: true }], ['c', { ctrl: true }])).toEqual([
    'up',
    'tab',
    'shift-tab',
    'ctrl-c',
  ])
  expect(read(['jj\rä'], ['', { delete: true }], ['x', { meta: true }])).toEqual(['j', 'j', 'enter', 'ä', 'backspace'])
})

test('a link is a paste even without brackets, and what is typed fast is none', () => {
  expect(read(['https://x/'], ['\tname\r'])).toEqual(['pasted "https://x/"', 'tab', 'n', 'a', 'm', 'e', 'enter'])
})

test('what is pasted is no keys, in however many parts it comes', () => {
  expect(read(['r'], ['[200~'], ['yy\n'], ['', { return: true }], ['y'], ['[201~'], ['j'])).toEqual(['r', 'pasted "yy\\n\\ny"', 'j'])
})
