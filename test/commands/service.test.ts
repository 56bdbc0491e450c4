/**
 * `agent daemon install` and `uninstall`: the files of services, for paths with characters that mean
 * something in them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readOwnPlist, renderPlist } from '../../cli/service/launchd.ts'
import { takeOver, type ServicePlan } from '../../cli/service/plan.ts'
import { readOwnUnit, renderUnit } from '../../cli/service/systemd.ts'
import { newFolder } from '../support/folder.ts'
import { fails, saysOnly, useUser } from './_cli.ts'

const has = (program: string) => spawnSync(program, ['--version']).error === undefined
const canVerify = has('systemd-analyze')
if (!canVerify) console.warn('systemd-analyze is not installed: the units are not verified.')
const canParse = has('python3')

const oddNames = [
  'plain',
  'with space',
  '"quoted"',
  "it's",
  '50%n %h %%',
  '$HOME ${PATH} $$',
  'back\\slash\\n \\x41',
  'semi;colon #hash',
  '<tag> & ]]> --> Ümläut 名',
  '-leading @ : + !',
]

function planIn(folder: string, over: Partial<ServicePlan> = {}): ServicePlan {
  const dataDir = join(folder, 'data')
  return {
    profile: 'acme',
    name: 'identity-agent-acme',
    isSystem: false,
    runAs: undefined,
    dataDir,
    command: [join(folder, 'node'), join(folder, 'daemon.cjs')],
    settings: { AGENT_DATA_DIR: dataDir, AGENT_HTTP_PORT: '9085' },
    environment: { VDR_URL: `sqlite:${join(folder, 'ledger.db')}` },
    secrets: [{ variable: 'ADMIN_TOKEN_FILE', path: join(folder, 'token') }],
    ...over,
  }
}

/** The words of a command or an assignment, as systemd reads them (systemd.syntax(7)). */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) =>
    text!.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%'),
  )
}

const valuesOf = (unit: string, name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)

test.each(oddNames)('a unit means the paths it was made from: %s', (name) => {
  const plan = planIn(`/srv/${name}`)
  const unit = renderUnit(plan, true)
  const [node, ...args] = wordsOf(valuesOf(unit, 'ExecStart')[0]!)
  // systemd replaces variables in arguments, and not in the path of the program.
  const isArgument = valuesOf(unit, 'ExecStart')[0]!.startsWith('/usr/bin/env ')
  expect(isArgument ? node!.replaceAll('$$', '$') : node).toBe(plan.command[0])
  expect(args.map((arg) => arg.replaceAll('$$', '$'))).toEqual([
    plan.command[1],
    'AGENT_PROFILE=acme',
    `AGENT_DATA_DIR=${plan.dataDir}`,
    'AGENT_HTTP_PORT=9085',
  ])
  expect(valuesOf(unit, 'Environment').flatMap(wordsOf)).toContain(`VDR_URL=${plan.environment['VDR_URL']}`)
  expect(valuesOf(unit, 'LoadCredential')).toEqual([
    `admin-token:${plan.secrets[0]!.path.replaceAll('%', '%%')}`,
  ])
  expect(unit).toContain('\nEnvironment=ADMIN_TOKEN_FILE=%d/admin-token\n')
  expect(unit).toContain('\nRestart=on-failure\n')
  // Every line is a comment, a section or an assignment.
  expect(
    unit.split('\n').filter((line) => line !== '' && !/^(?:#|\[[\w-]+\]$|[A-Za-z]+=)/.test(line)),
  ).toEqual([])
  expect(readOwnUnit(unit)).toEqual({
    profile: 'acme',
    dataDir: plan.dataDir,
    variables: ['ADMIN_TOKEN_FILE', 'VDR_URL'],
  })
})

test.skipIf(!canVerify)('systemd accepts the units, and rates that of the machine below 3', () => {
  const folder = newFolder()
  const files = oddNames.flatMap((name, index) => {
    // systemd looks for the program: a wrong quotation leads to another path.
    const own = join(folder, name)
    mkdirSync(own)
    symlinkSync(process.execPath, join(own, 'node'))
    const system = { isSystem: true, ...(index % 2 === 0 ? { dataDir: undefined } : { runAs: 'daemon' }) }
    return [planIn(own), planIn(own, system)].map((plan, kind) => {
      const file = join(folder, `identity-agent-${index}-${kind}.service`)
      writeFileSync(file, renderUnit(plan, index % 3 !== 0))
      return file
    })
  })
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
    encoding: 'utf8',
  })
  const ours = stderr.split('\n').filter((line) => line.includes('identity-agent'))
  expect({ status, ours }).toEqual({ status: 0, ours: [] })
  const analyze = (file: string, threshold: string) =>
    spawnSync('systemd-analyze', ['security', '--offline=true', `--threshold=${threshold}`, file])
  for (const index of [0, 1])
    expect(analyze(join(folder, `identity-agent-${index}-1.service`), '30').status).toBe(0)
})

test.each(oddNames)('a property list means the paths it was made from: %s', (name) => {
  const plan = planIn(`/srv/${name}`)
  const plist = renderPlist(plan, plan.dataDir!)
  expect(readOwnPlist(plist)).toEqual({
    profile: 'acme',
    dataDir: plan.dataDir,
    variables: ['ADMIN_TOKEN_FILE', 'VDR_URL'],
  })
  const tags = [...plist.replaceAll(/<(?:\?|!)[^>]*>/g, '').matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)]
  const open: string[] = []
  for (const [, closes, tag, empty] of tags) {
    if (empty) continue
    if (closes) expect(open.pop()).toBe(tag)
    else open.push(tag!)
  }
  expect(open).toEqual([])
  if (!canParse) return
  const script = 'import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const { stdout } = spawnSync('python3', ['-c', script], { input: plist, encoding: 'utf8' })
  expect(JSON.parse(stdout)).toMatchObject({
    Label: 'org.identity-agent.identity-agent-acme',
    ProgramArguments: [
      ...plan.command,
      'AGENT_PROFILE=acme',
      `AGENT_DATA_DIR=${plan.dataDir}`,
      'AGENT_HTTP_PORT=9085',
    ],
    EnvironmentVariables: { ...plan.environment, ADMIN_TOKEN_FILE: plan.secrets[0]!.path },
    KeepAlive: { SuccessfulExit: false },
    StandardErrorPath: `${plan.dataDir}/daemon.log`,
    Umask: 0o077,
  })
})

describe('the commands', () => {
  const user = useUser()
  const home = {
    HOME: user.folder,
    XDG_CONFIG_HOME: join(user.folder, '.config'),
    AGENT_HTTP_PORT: '',
    AGENT_DIDCOMM_PORT: '',
  }
  const me = user.as(home)
  const unit = join(user.folder, '.config', 'systemd', 'user', 'identity-agent.service')
  const onLinux = process.platform === 'linux'

  test('--dry-run prints the file and writes nothing', async () => {
    const { code, out } = await me.run`daemon install --dry-run --port 9085`
    expect({ code, own: readOwnUnit(out)?.dataDir }).toEqual({
      code: 0,
      own: onLinux ? join(user.folder, 'data') : undefined,
    })
    expect(out).toContain('AGENT_HTTP_PORT=9085')
    expect(existsSync(unit)).toBe(false)
    expect(await me.json`daemon install --dry-run`).toMatchObject({ installed: false, profile: 'local' })
  })

  test.each([
    [['--dry-run'], { ADMIN_TOKEN: 'the-secret-of-the-administrator' }, 'set ADMIN_TOKEN_FILE to the path'],
    [['--dry-run'], { AGENT_MASTER_KEY: 'A'.repeat(43) }, 'The variable AGENT_MASTER_KEY is a secret'],
    [
      ['--dry-run'],
      { ADMIN_TOKEN_FILE: '/nowhere/token' },
      '/nowhere/token cannot be read: there is no such file',
    ],
    [
      ['--dry-run'],
      { REST_SERVICE_URL: 'https://a.example\nUser=root' },
      'REST_SERVICE_URL contains a line break',
    ],
    [['--dry-run', '--data-dir', 'a\nb'], {}, '--data-dir contains a line break'],
    [['--dry-run', '--profile', '../x'], {}, 'not made of letters, digits and hyphens'],
    [['--dry-run', '--run-as', 'daemon'], {}, '--system'],
    [['--dry-run', '--system', '--run-as', 'two words'], {}, 'is not the name of a user'],
    [['--dry-run', '--system', '--data-dir', '/srv/x'], {}, 'needs --run-as'],
  ])('%s with %o is refused: %s', async (args, env, reason) => {
    const { code, out, err } = await user
      .as({ ...home, ...(env as Record<string, string>) })
      .run(['daemon', 'install', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(reason)
    expect(err).not.toContain('the-secret')
  })

  test.skipIf(!onLinux || existsSync('/run/systemd/system'))(
    'without systemd, a sentence says so',
    async () => {
      expect(await me.run`daemon install`).toEqual(fails(1, 'Error: systemd does not run on this machine.'))
      expect(existsSync(unit)).toBe(false)
    },
  )

  test.skipIf(!onLinux)('a file of others is left alone, and removing nothing is not an error', async () => {
    expect(await me.run`daemon uninstall`).toEqual(saysOnly('No service is installed for the profile local'))
    mkdirSync(join(unit, '..'), { recursive: true })
    writeFileSync(unit, '[Service]\nExecStart=/bin/true\n')
    expect(await me.run`daemon uninstall`).toEqual(
      fails(5, 'is not of agent daemon install. It stays as it is.'),
    )
    expect(readFileSync(unit, 'utf8')).toContain('/bin/true')
  })
})

test('secrets of the environment become files, settings are taken over, and nothing else is', async () => {
  const token = join(newFolder(), 'token')
  writeFileSync(token, 'x')
  expect(
    await takeOver({
      PATH: '/bin',
      HOME: '/',
      AGENT_LOG_LEVEL: 'warn',
      ADMIN_TOKEN_FILE: token,
      VDR_URL: '',
      AGENT_DATA_DIR: 'x',
    }),
  ).toEqual({
    environment: { AGENT_LOG_LEVEL: 'warn' },
    secrets: [{ variable: 'ADMIN_TOKEN_FILE', path: token }],
  })
})
