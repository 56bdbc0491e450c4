import { expect, test } from 'vitest'
import { askChoice, askSecret, askText, canAsk, type Choice } from '../../cli/prompts/ask.ts'
import { keys, newTerminal } from './_terminal.ts'

const interrupted = { exitCode: 130, message: 'Interrupted. Nothing was changed.' }

test.each([
  [{}, true, true, 'xterm', true],
  [{}, false, true, 'xterm', false],
  [{}, true, false, 'xterm', false],
  [{}, true, true, 'dumb', false],
  [{ json: true }, true, true, 'xterm', false],
  [{ quiet: true }, true, true, 'xterm', false],
])(
  'with %j, input at a terminal %j, output %j, TERM=%s, a prompt is possible: %j',
  (flags, isIn, isOut, term, expected) => {
    const { input, output } = newTerminal()
    expect(
      canAsk(
        flags,
        { input: Object.assign(input, { isTTY: isIn }), output: Object.assign(output, { isTTY: isOut }) },
        term,
      ),
    ).toBe(expected)
  },
)

test('a prompt repeats until the text is valid', async () => {
  const terminal = newTerminal()
  const answer = askText(
    'Age',
    { check: (text) => (/^\d+$/.test(text) ? undefined : 'Digits, please.') },
    terminal,
  )
  await terminal.shows('Age')
  terminal.types(keys.enter)
  await terminal.shows('Enter a value')
  terminal.types('x', keys.enter)
  await terminal.shows('Digits, please.')
  terminal.types('\u007f', ' 42 ', keys.enter)
  expect(await answer).toBe('42')
})

test('a typed secret is not echoed', async () => {
  const terminal = newTerminal()
  const answer = askSecret(
    'Passphrase',
    (text) => (text.length < 5 ? 'Longer, please.' : undefined),
    terminal,
  )
  await terminal.shows('Passphrase')
  terminal.types('abc', keys.enter)
  await terminal.shows('Longer, please.')
  terminal.types('xyz', keys.enter)
  expect(await answer).toBe('abcxyz')
  expect(terminal.text()).not.toMatch(/abc|xyz/)
})

test('an optional text may be omitted', async () => {
  const terminal = newTerminal()
  const answer = askText('Another?', { optional: true }, terminal)
  await terminal.shows('Another?')
  terminal.types(keys.enter)
  expect(await answer).toBe('')
})

const choices: Choice<string>[] = [
  { value: '1', name: 'Alice \u001b]0;owned\u0007\nInc.', hint: 'connected' },
  { value: '2', name: 'Bob', hint: 'x'.repeat(100) },
]

test('a choice shows names of peers without control characters', async () => {
  const terminal = newTerminal()
  const answer = askChoice('Whom?', choices, terminal)
  await terminal.shows('Alice  Inc.')
  await terminal.shows('connected')
  terminal.types(keys.down)
  await terminal.shows('xxx…')
  terminal.types(keys.enter)
  expect(await answer).toBe('2')
})

test('one of many options is found by a part of its name', async () => {
  const terminal = newTerminal()
  const all = Array.from({ length: 40 }, (_, index) => ({ value: index, name: `Number ${index}` }))
  const answer = askChoice('Which?', all, terminal)
  await terminal.shows('Number 1')
  terminal.types('R 37')
  await terminal.shows('❯ Number 37')
  terminal.types(keys.enter)
  expect(await answer).toBe(37)
})

test.each([
  ['a text', keys.ctrlC, (terminal: ReturnType<typeof newTerminal>) => askText('Q', {}, terminal)],
  ['a choice', keys.ctrlC, (terminal: ReturnType<typeof newTerminal>) => askChoice('Q', choices, terminal)],
])('Ctrl-C at %s is an interruption (130)', async (_, key, ask) => {
  const terminal = newTerminal()
  const answer = ask(terminal)
  const outcome = expect(answer).rejects.toMatchObject(interrupted)
  await terminal.shows('Q')
  terminal.types(key)
  await outcome
})
