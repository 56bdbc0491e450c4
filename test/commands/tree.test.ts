/** The tree of commands: groups of the first help, aliases, and what unknown names mean. */
import { expect, test } from 'vitest'
import { readCommands, topics } from '../../build/docs/manifest.ts'
import { complete } from '../../cli/completion/complete.ts'
import { aliases, groups, meant, withoutAlias } from '../../cli/tree.ts'
import { fails, useUser } from './_cli.ts'

const user = useUser()
const ids = readCommands().map(({ id }) => id)
/** Whether a topic or a command has this name, without its flags. */
const isKnown = (words: string) =>
  [words, words.replace(/ --.*$/, '')].some(
    (name) => ids.includes(name.replaceAll(' ', ':')) || name in topics,
  )

/** Topics, and commands without a topic, as help lists them. */
const listed = [
  ...Object.keys(topics).filter((name) => !name.includes(':')),
  ...ids.filter((id) => !id.includes(':')),
]

test('each topic and each command without a topic is in one group', () => {
  const grouped = groups.flatMap(({ main, more }) => [...main, ...more])
  expect(listed.filter((name) => !grouped.includes(name))).toEqual([])
  expect(grouped.filter((name, index) => grouped.indexOf(name) !== index)).toEqual([])
})

test('the first help fits a terminal of 80×24', async () => {
  const { out } = await user.runSized(['--help'], { columns: 80, rows: 24 })
  const lines = out.trimEnd().split(/\r?\n/)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  // The prompt after it takes the last line.
  expect(lines.length).toBeLessThan(24)
  expect(out).not.toContain('presentation-definition')
})

test('agent help --all has every topic', async () => {
  for (const line of [
    ['help', '--all'],
    ['--help', '--all'],
  ]) {
    const { code, out } = await user.run(line)
    expect(code).toBe(0)
    expect(listed.filter((name) => !new RegExp(`^(?:\\w+)? +${name} `, 'm').test(out))).toEqual([])
  }
})

test('the help of a topic has the main commands first', async () => {
  const { out } = await user.run`help credential`
  const verbs = [...out.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, verb]) => verb)
  expect(verbs.slice(0, 2)).toEqual(['offer', 'accept'])
  expect(verbs.at(-1)).toBe('status-list')
})

test('usage names arguments and required flags only', async () => {
  const usage = async (line: string) =>
    /USAGE\n {2}(.*)\n/.exec((await user.run([...line.split(' '), '-h'])).out)![1]
  expect(await usage('connection invite')).toBe('$ agent connection invite [FLAGS]')
  expect(await usage('credential offer')).toBe('$ agent credential offer [FLAGS]')
  expect(await usage('connection show')).toBe('$ agent connection show ID [FLAGS]')
  expect(await usage('daemon status')).toBe('$ agent daemon status [FLAGS]')
  expect(await usage('profile add')).toBe('$ agent profile add NAME --url=<value> [FLAGS]')
})

test('what a tenant leaves behind is said', async () => {
  expect(await user.run`tenant remove x --yes`).toEqual(fails(2, 'Give --keep-wallet or --with-wallet.'))
})

test.each(Object.entries(aliases))('%s runs %s', async (alias, command) => {
  expect(isKnown(command) && !isKnown(alias), `${alias}: ${command}`).toBe(true)
  expect(withoutAlias([...alias.split(' '), 'x'])).toEqual([...command.split(' '), 'x'])
  const [short, long] = await Promise.all([
    user.run`help ${alias.split(' ')}`,
    user.run`help ${command.split(' ')}`,
  ])
  expect(short).toEqual(long)
  expect(short.code).toBe(0)
})

test.each(Object.entries(meant))('%s is answered with %s', async (given, command) => {
  expect(isKnown(command)).toBe(true)
  const { code, err } = await user.run([...given.split(' '), '--json'])
  expect({ code, hint: JSON.parse(err).hint }).toEqual({ code: 2, hint: `agent ${command} --help` })
})

test('agent version --json', async () => {
  expect(await user.run`version`).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^identity-agent\/\d/),
  })
  const { code, out } = await user.run`version --json`
  expect(code).toBe(0)
  expect(JSON.parse(out)).toEqual({
    name: 'identity-agent',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
  })
})

test('completion does not offer aliases, and completes the command of one', async () => {
  const manifest = {
    commands: Object.fromEntries(readCommands().map((each) => [each.id, each])),
    topics: {},
  } as unknown as Parameters<typeof complete>[0]
  expect(await complete(manifest, ['sta'])).toBe('')
  expect(await complete(manifest, ['status', '--data'])).toContain('--data-dir')
  expect(await complete(manifest, ['config', 'set', 'AGENT_HTTP_'])).toBe('AGENT_HTTP_PORT\n')
  expect(await complete(manifest, ['connection', 'list', '--state', 'conn'])).toBe('connected\n')
})
