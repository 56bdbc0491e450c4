/** Global flags before a command, `-h`, and help about unknown subjects. */
import { describe, expect, test } from 'vitest'
import { readCommands } from '../../build/docs/manifest.ts'
import { breakCommand } from '../../cli/format/text.ts'
import { arrange } from '../../cli/argv.ts'
import { useUser } from './_cli.ts'

const user = useUser()

const ids = ['connection:list', 'did:list', 'explain', 'help', 'tenant:key:list']

// prettier-ignore
test.each<[given: string, arranged: string]>([
  ['did list',                                    'did list'],
  ['--profile acme did list',                     'did list --profile acme'],
  ['--profile=acme did list --json',              'did list --profile=acme --json'],
  ['-p acme --json -q tenant key list x',         'tenant key list -p acme --json -q x'],
  ['--profile acme did list --profile other',     'did list --profile acme --profile other'],
  ['--url http://a --api-key-file k did list',    'did list --url http://a --api-key-file k'],
  ['--profile acme did list -- --x',              'did list --profile acme -- --x'],
  ['--json nonsense list',                        'nonsense list --json'],
  ['-h',                                          '--help'],
  ['connection list -h',                          'connection list --help'],
  ['--profile acme connection list -h',           'connection list --profile acme --help'],
  ['connection list -- -h',                       'connection list -- -h'],
  ['explain -- --json',                           'explain -- --json'],
  ['--profile',                                   '--profile'],
  ['--lmit 3 did list',                           '--lmit 3 did list'],
])('%j becomes %j', (given, arranged) => {
  expect(arrange(given.split(' '), ids).join(' ')).toBe(arranged)
})

describe('-h is --help', () => {
  test.each([
    [[]],
    [['connection']],
    [['tenant', 'key']],
    [['connection', 'list']],
    [['daemon', 'start']],
    [['explain']],
    [['help']],
  ])('after %j', async (words) => {
    const [short, long] = await Promise.all([user.run`${words} -h`, user.run`${words} --help`])
    expect(short).toEqual(long)
    expect(short).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/USAGE|All topics/) })
  })
})

test('no line of an example is longer than 80 columns, and a broken one is still the command', () => {
  for (const { id, examples } of readCommands())
    for (const example of examples) {
      const lines = breakCommand(`$ ${example}`, 78)
      expect(
        Math.max(...lines.split('\n').map((line) => line.length)),
        `${id}: ${lines}`,
      ).toBeLessThanOrEqual(78)
      expect(lines.replaceAll(/ \\\n {4}/g, ' ')).toBe(`$ ${example}`)
    }
  expect(breakCommand(`$ a --b "c --d" --e '${'f --g '.repeat(15)}' --h`, 78).split('\n')).toHaveLength(3)
})

test('the help of a command fits 80 columns', async () => {
  const { out } = await user.run`help credential offer`
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(out).toContain('--configuration Person \\\n      --issuing-did <did>')
})

describe('global flags', () => {
  test('may precede the command', async () => {
    await user.run`profile add acme --url http://127.0.0.1:9`
    const named = (err: string) =>
      expect(JSON.parse(err)).toMatchObject({
        title: expect.stringContaining('http://127.0.0.1:9'),
        exitCode: 7,
      })
    for (const line of [
      '--profile acme --json did list',
      '-p acme did list --json',
      'did list -p acme --json',
    ]) {
      const { code, err } = await user.run(line.split(' '))
      expect(code).toBe(7)
      named(err)
    }
  })

  test('--no-color overrides an environment that enables colours', async () => {
    const env = { NO_COLOR: '', FORCE_COLOR: '1' }
    const args = ['explain', 'exit-codes']
    const plain = await user.as(env).run`--no-color ${args}`
    expect(plain).toEqual(await user.as(env).run`${args} --no-color`)
    expect(plain).toMatchObject({ code: 0 })
    expect(plain.out).not.toContain('\u001b')
    expect((await user.as(env).run`help --no-color`).out).not.toContain('\u001b')
  })

  test('the error for the unknown flag -o names --json', async () => {
    const { code, err } = await user.run`did list -o json`
    expect({ code, err: err.split('\n')[0] }).toEqual({
      code: 2,
      err: 'Error: This command has no flag -o. For JSON: --json',
    })
  })
})

test('help breaks a list of options after an option', async () => {
  const { out } = await user.run`webhook add --help`
  expect(out).toMatch(/<options: ConnectionUpdated\|[^\n]*\|\n +\w+Updated\|[^>]*Requested>\n/)
})

describe('help about an unknown subject', () => {
  test.each([
    ['nonsense', 'There is no command agent nonsense.'],
    ['credental offer', 'There is no command agent credental offer. Did you mean agent credential offer?'],
    ['credential ofer', 'There is no command agent credential ofer. Did you mean agent credential offer?'],
    ['conection', 'There is no command agent conection. Did you mean agent connection?'],
  ])('help %s', async (words, title) => {
    const { code, out, err } = await user.run`help ${words.split(' ')}`
    expect({ code, out, err: err.split('\n')[0] }).toEqual({ code: 2, out: '', err: `Error: ${title}` })
    expect(err).toContain('\n  Try: agent ')
    const withFlag = await user.run`${words.split(' ')} --help`
    expect({ code: withFlag.code, err: withFlag.err.split('\n')[0] }).toEqual({
      code: 2,
      err: `Error: ${title}`,
    })
  })
})

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('uses the shell that SHELL names: %s', async (shell) => {
    const named = await user.run`completion ${shell}`
    expect(named.code).toBe(0)
    expect(await user.as({ SHELL: `/usr/bin/${shell}` }).run`completion`).toEqual(named)
  })

  test.each([
    ['/usr/bin/ksh', 'ksh'],
    ['', 'no shell'],
  ])('requires the shell when SHELL is %j', async (SHELL, named) => {
    const { code, err } = await user.as({ SHELL }).run`completion`
    expect(code).toBe(2)
    expect(err).toContain(named)
    expect(err).toContain('agent completion bash')
  })
})
