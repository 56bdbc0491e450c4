import { expect, test } from 'vitest'
import { colour, hasColours } from '../../cli/format/colour.ts'

const [terminal, pipe] = [{ isTTY: true }, {}]

test.each([
  [terminal, {}, true],
  [pipe, {}, false],
  [terminal, { NO_COLOR: '1' }, false],
  [terminal, { NO_COLOR: '' }, true],
  [terminal, { TERM: 'dumb' }, false],
  [terminal, { CLICOLOR: '0' }, false],
  [terminal, { CLICOLOR: '1' }, true],
  [pipe, { CLICOLOR: '1' }, false],
  [pipe, { CLICOLOR_FORCE: '1' }, true],
  [pipe, { CLICOLOR_FORCE: '1', TERM: 'dumb', CLICOLOR: '0' }, true],
  [terminal, { CLICOLOR_FORCE: '0' }, false],
  [pipe, { FORCE_COLOR: '1' }, true],
  [terminal, { FORCE_COLOR: '0' }, false],
  [terminal, { NO_COLOR: '1', CLICOLOR_FORCE: '1', FORCE_COLOR: '1' }, false],
])('%j with %j has colours: %j', (stream, env, expected) => {
  expect(hasColours(stream, env)).toBe(expected)
  expect(colour(stream, env)('bad', 'expired')).toBe(expected ? '\u001b[31mexpired\u001b[39m' : 'expired')
})

test('an empty text has no escape sequences', () => {
  expect(colour(terminal, {})('good', '')).toBe('')
})
