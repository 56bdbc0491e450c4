/** Shell completion by the scripts: commands, and ids from the daemon. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa, execaSync } from 'execa'
import { expect, test } from 'vitest'
import { complete } from '../../cli/completion/complete.ts'
import { readCommands, topics } from '../../build/docs/manifest.ts'
import { shapes } from '../../build/docs/shapes.ts'
import { bin, fails, useUser } from './_cli.ts'
import { serveUser } from './_agents.ts'
import { untilEnd } from '../support/shared.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

const folder = fileURLToPath(new URL('../../cli/completion/scripts', import.meta.url))
const files = {
  bash: join(folder, 'agent.bash'),
  zsh: join(folder, '_agent'),
  fish: join(folder, 'agent.fish'),
}
const isThere = (shell: Shell) => execaSync(shell, ['--version'], { reject: false }).exitCode === 0

const user = useUser()
await untilEnd(serveUser(user))
const { connectionId: connection } = await user.json`connection invite --label Alice`
const { did } = await user.json`did create`
const { connectionId: other } = await user.json`connection invite --label ${'a\u001b[2Jb\tc'}`
const { walletId: wallet } = await user.json`tenant create bob`
const ids: Record<'connection' | 'did' | 'other' | 'wallet', string> = { connection, did, other, wallet }
// The program that the shells find as `agent`.
mkdirSync(join(user.folder, 'bin'))
writeFileSync(join(user.folder, 'bin', 'agent'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`)
chmodSync(join(user.folder, 'bin', 'agent'), 0o755)

/** Runs `agent complete`. Returns the words without descriptions. */
async function asked(...words: string[]): Promise<string[]> {
  const { code, out, err } = await user.run`complete -- ${words}`
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out === '' ? [] : out.split('\n').map((line) => line.split('\t')[0]!)
}

/** Runs a script in a shell without user configuration, with the completion of this program. */
async function inShell(shell: Shell, script: string): Promise<string[]> {
  const options = { bash: ['--norc', '--noprofile'], zsh: ['-f'], fish: ['--no-config'] }[shell]
  const { stdout } = await execa(shell, [...options, '-c', script], {
    cwd: user.folder,
    env: {
      PATH: `${join(user.folder, 'bin')}:${process.env['PATH']}`,
      HOME: user.folder,
      AGENT_CONFIG_DIR: join(user.folder, 'config'),
      AGENT_PROFILE: '',
      AGENT_URL: '',
      AGENT_API_KEY: '',
    },
  })
  return stdout.split('\n').filter((line) => line !== '')
}

const quote = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')

/** The suggestions of bash for words, split as bash splits them. */
const inBash = (...words: string[]) =>
  inShell(
    'bash',
    `source '${files.bash}'; COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'; COMP_WORDS=(agent ${quote(words)}); COMP_CWORD=${words.length}; _agent; printf '%s\\n' "\${COMPREPLY[@]}"`,
  )

test.for(shells)('%s accepts its completion script', async (shell, { skip }) => {
  const { code, out } = await user.run`completion ${shell}`
  expect(code).toBe(0)
  skip(!isThere(shell), `there is no ${shell} here`)
  const file = join(user.folder, `completion.${shell}`)
  writeFileSync(file, `${out}\n`)
  const check = await execa(shell, [shell === 'fish' ? '--no-execute' : '-n', file], { reject: false })
  expect({ code: check.exitCode, err: check.stderr }).toEqual({ code: 0, err: '' })
  expect(shapes['completion']!.type.parse(await user.json`completion ${shell}`)).toMatchObject({ shell })
})

test('an unsupported shell is a usage error', async () => {
  expect(await user.run`completion tcsh`).toMatchObject(fails(2, 'bash'))
})

test('commands, flags and values come from the manifest', async () => {
  const manifest = {
    commands: Object.fromEntries(readCommands().map((command) => [command.id, command])) as Parameters<
      typeof complete
    >[0]['commands'],
    topics: Object.fromEntries(Object.entries(topics).map(([name, description]) => [name, { description }])),
  }
  const values = async (...words: string[]) =>
    (await complete(manifest, words))
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t')[0])
  expect(await values('conn')).toEqual(['connection'])
  expect(await complete(manifest, ['conn'])).toBe('connection\tConnections to other agents\n')
  expect(await values('tenant', 'k')).toEqual(['key'])
  expect(await values('tenant', 'key', '')).toEqual(['create', 'list', 'revoke'])
  expect(await values('help', 'tenant', 'key', 'c')).toEqual(['create'])
  expect(await values('credential', 'offer', '--iss')).toEqual(['--issuing-did'])
  // Required flags come first, global flags last. Flags on the line are not repeated.
  expect((await values('message', 'send', '--'))[0]).toBe('--connection')
  expect((await values('signin', 'respond', '--'))[0]).toBe('--did')
  const flags = await values('credential', 'offer', '--issuing-did', 'x', '--claim', 'a=b', '--auto', '--')
  expect(flags).not.toContain('--auto')
  expect(flags).toContain('--claim')
  expect(await values('credential', 'offer', '--format', '')).toEqual(['jwt', 'sdjwt', 'mdoc', 'anoncreds'])
  expect(await values('credential', 'offer', '--format=s')).toEqual(['--format=sdjwt'])
  expect(await values('credential', 'offer', '--wait=Off')).toEqual([
    '--wait=OfferPending',
    '--wait=OfferSent',
    '--wait=OfferReceived',
    '--wait=OfferCreated',
    '--wait=OfferRedeemed',
    '--wait=OfferExpired',
    '--wait=OfferRejected',
    '--wait=OfferBlocked',
  ])
  // Without a value, no value follows.
  expect(await values('credential', 'offer', '--wait', '--tim')).toEqual(['--timeout'])
  expect(await values('credential', 'offer', '--oid4vci', '--conf')).toEqual(['--configuration'])
  expect(await values('credential', 'offer', '--oid4vci', '--configuration', 'x', '--issu')).toEqual([
    '--issuing-did',
  ])
  expect(await values('event', 'trigger', 'Conn')).toEqual(['ConnectionUpdated'])
  expect(await values('webhook', 'add', '--headers', '@package.js')).toEqual(['@package.json'])
  expect(await values('webhook', 'add', '--headers', '@no/such/folder/')).toEqual([])
  expect(await values('tenant', 'create', 'x', '--key-file', '')).toEqual([':files'])
  expect(await values('tenant', 'create', '--', '--wal')).toEqual([])
  expect(await values('no', 'such', '')).toEqual([])
  expect(await values('explain', 'OfferRec')).toEqual(['OfferReceived'])
  expect(await values('credential', 'offer', '--no-such-flag=')).toEqual([])
  expect(await values('--json', '-p', 'acme', 'tenant', 'key', '')).toEqual(['create', 'list', 'revoke'])
  expect(await values('--profile', 'acme', 'credential', 'offer', '--pro')).toEqual([])
  expect(await values('--profile', '')).toEqual([])
  expect(await values()).toContain('connection')
})

test('ids come from the daemon, with descriptions', async () => {
  expect(await asked('connection', 'show', '')).toEqual([ids.other, ids.connection])
  expect(await asked('connection', 'show', ids.connection.slice(0, 5))).toContain(ids.connection)
  expect(await asked('credential', 'offer', '--connection', '')).toEqual([ids.other, ids.connection])
  expect(await asked('credential', 'offer', `--connection=${ids.other.slice(0, 30)}`)).toEqual([
    `--connection=${ids.other}`,
  ])
  expect(await asked('credential', 'offer', '--issuing-did', 'did:prism')).toEqual([ids.did])
  expect(await asked('wallet', 'show', '')).toContain(ids.wallet)
  expect(await asked('connection', 'list', '--profile', '')).toEqual(['local'])
  expect(await asked('trace', '')).toEqual([ids.other, ids.connection])
  // Text from peers or users contains no control characters and no line breaks.
  const { out } = await user.run`complete -- connection show ${ids.other}`
  expect(out).toMatch(/^[\x20-\x7e]+\t[\x20-\x7e]+$/)
  expect(out).toContain('InvitationGenerated')
})

test('completion stays silent when the daemon cannot be reached', async () => {
  expect(await asked('connection', 'show', '--profile', 'nobody', '')).toEqual([])
  expect(await asked('connection', 'show', '--url', 'http://127.0.0.1:1', '')).toEqual([])
  expect(await asked('connection', 'show', '--url', 'nonsense', '')).toEqual([])
  expect(await asked('connection', 'show', '--api-key-file', '-', '')).toEqual([ids.other, ids.connection])
  expect(await asked('connection', 'show', '--api-key-file', '/no/such/file', '')).toEqual([])
})

test('bash completes', async ({ skip }) => {
  skip(!isThere('bash'), 'there is no bash here')
  expect(await inBash('connection', 'i')).toEqual(['invite'])
  expect(await inBash('connection', 'show', '')).toEqual([ids.other, ids.connection])
  // bash splits words at colons and equals signs: only the last part is completed.
  const [, , rest] = ids.did.split(':')
  expect(
    await inBash('credential', 'offer', '--issuing-did', 'did', ':', 'prism', ':', rest!.slice(0, 4)),
  ).toEqual([rest])
  expect(await inBash('credential', 'offer', '--issuing-did', 'did', ':')).toEqual([
    ids.did.slice('did:'.length),
  ])
  expect(await inBash('credential', 'offer', '--format', '=', 's')).toEqual(['sdjwt'])
  expect(await inBash('credential', 'offer', '--format', '=')).toEqual(['jwt', 'sdjwt', 'mdoc', 'anoncreds'])
  writeFileSync(join(user.folder, 'notes of mine.key'), '')
  expect(await inBash('tenant', 'create', 'x', '--key-file', 'notes')).toEqual(['notes of mine.key'])
  expect(await inBash('no', 'such', '')).toEqual([])
})

test('fish completes', async ({ skip }) => {
  skip(!isThere('fish'), 'there is no fish here')
  const inFish = (line: string) => inShell('fish', `source '${files.fish}'; complete -C '${line}'`)
  expect(await inFish('agent connection i')).toEqual(['invite\tCreate an invitation for another agent'])
  expect((await inFish('agent connection show ')).map((line) => line.split('\t')[0]!).toSorted()).toEqual(
    [ids.connection, ids.other].toSorted(),
  )
  expect(await inFish('agent credential offer --format=s')).toEqual([
    expect.stringMatching(/^--format=sdjwt/),
  ])
  expect(await inFish('agent tenant create x --key-file notes')).toEqual([expect.stringContaining('notes')])
})

test('zsh completes', async ({ skip }) => {
  skip(!isThere('zsh'), 'there is no zsh here')
  /**
   * Calls the completion as zsh does, with the words of the line and the text before the cursor. `compadd`
   * prints its arguments.
   */
  const inZsh = (...words: string[]) =>
    inShell(
      'zsh',
      `compdef() { }; compadd() { print -l -- $values }; _files() { print files }; source '${files.zsh}'; words=(agent ${quote(words)}); CURRENT=${words.length + 1}; PREFIX='${words.at(-1)}'; _agent`,
    )
  expect(await inZsh('connection', 'i')).toEqual(['invite'])
  expect(await inZsh('connection', 'show', '')).toEqual([ids.other, ids.connection])
  expect(await inZsh('credential', 'offer', '--issuing-did', 'did:prism:')).toEqual([ids.did])
  expect(await inZsh('tenant', 'create', 'x', '--key-file', '')).toEqual(['files'])
})
