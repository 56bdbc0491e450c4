/** `agent config`, and `agent daemon start` with a configuration file. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fails, newUser, prints, type User } from './_cli.ts'

/** A user with a configuration file, whose environment has no settings. */
function userWith(text: string, name = 'agent.yaml') {
  const user = newUser()
  const config = join(user.folder, name)
  writeFileSync(config, text)
  const env = { AGENT_DATA_DIR: '', AGENT_HTTP_PORT: '', AGENT_DIDCOMM_PORT: '' }
  return { user, config, as: (more: Record<string, string> = {}) => user.as({ ...env, ...more }) }
}

const inFolder = ({ folder }: User, name: string, text: string) => {
  writeFileSync(join(folder, name), text, { mode: 0o600 })
  return join(folder, name)
}

const ports = 'AGENT_HTTP_PORT: 0\nAGENT_DIDCOMM_PORT: 0\nAGENT_DATA_DIR: store\n'

test('a daemon starts with a configuration file, and again without naming it', async () => {
  const { user, config, as } = userWith(`${ports}ADMIN_TOKEN_FILE: token\nAGENT_HOST: 127.0.0.1\n`)
  using _ = user
  inFolder(user, 'token', 'the-token-of-a-file\n')
  const { run, json } = as({ AGENT_HTP_PORT: '1' })
  try {
    const first = await run`daemon start --config ${config}`
    expect(first).toEqual({
      code: 0,
      out: expect.stringContaining(`config    ${config}`),
      err: expect.any(String),
    })
    expect(first.err).toContain(
      'Warning: The environment variable AGENT_HTP_PORT is not known. Did you mean AGENT_HTTP_PORT?',
    )
    const profile = JSON.parse(readFileSync(join(user.folder, 'config', 'profiles', 'local.json'), 'utf8'))
    expect(profile).toMatchObject({ adminToken: 'the-token-of-a-file', dataDir: join(user.folder, 'store') })
    // The file is kept, and its values are not: a change of the file counts.
    const kept = () => JSON.parse(readFileSync(join(user.folder, 'config', 'settings', 'local.json'), 'utf8'))
    expect(kept()).toEqual({
      AGENT_CONFIG_FILE: config,
      AGENT_DATA_DIR: join(user.folder, 'store'),
      AGENT_HTTP_PORT: Number(new URL(profile.url).port),
      AGENT_DIDCOMM_PORT: Number(new URL(profile.didcommUrl).port),
    })
    const other = inFolder(user, 'other.json', '{}')
    expect(await run`daemon start --config ${other}`).toEqual(
      fails(5, `without the --config ${other} that you ask for.`),
    )
    await run`daemon stop`
    const second = await json`daemon start`
    expect(second).toMatchObject({
      url: profile.url,
      didcommUrl: profile.didcommUrl,
      dataDir: profile.dataDir,
    })
    expect(await json`config show`).toMatchObject({
      daemon: { url: profile.url, differs: [], fileChanged: false },
    })
    writeFileSync(config, `${ports}AGENT_MEDIATOR: true\n`)
    const shown = await as({ VDR_URL: 'http://127.0.0.1:9' }).run`config show`
    expect(shown.out).toMatch(/^AGENT_MEDIATOR +true +file$/m)
    expect(shown.err).toContain(
      'has other values of VDR_URL, and has read the configuration file before its last change',
    )
  } finally {
    await run`daemon stop`
  }
  writeFileSync(config, 'AGENT_HTP_PORT: 1\n')
  const wrong = `The configuration file ${config} is not valid. AGENT_HTP_PORT: is not the name of a setting. Did you mean AGENT_HTTP_PORT?`
  expect(await run`daemon start`).toEqual(fails(2, wrong))
  const { checks } = JSON.parse((await run`doctor --json`).out)
  expect(checks).toContainEqual(
    expect.objectContaining({ name: 'configuration', status: 'failed', detail: wrong }),
  )
})

test('all faults of a start are named at once, and nothing is made', async () => {
  const { user, config, as } = userWith(
    'AGENT_LOG_LEVEL: my-secret-value\nFLOW_EXPIRY: 0\nADMIN_TOKEN: admin\n',
  )
  using _ = user
  const env = { VDR_BYTES: '1', ADMIN_TOKEN_PREVIOUS: 'x', ADMIN_TOKEN_PREVIOUS_FILE: '/nowhere' }
  const { code, out, err } = await as(env)
    .run`daemon start --config ${config} --data-dir ${join(user.folder, 'none')}`
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(
    /^Error: The configuration is not valid\. VDR_BYTES: .*ADMIN_TOKEN_PREVIOUS_FILE: is set beside ADMIN_TOKEN_PREVIOUS\. Remove one of them\. The configuration file \S+ is not valid\. AGENT_LOG_LEVEL: .*FLOW_EXPIRY: [^\n]*$/,
  )
  expect(err).not.toContain('my-secret-value')
  expect(() => readFileSync(join(user.folder, 'none', 'daemon.log'))).toThrow('ENOENT')
  // The daemon itself refuses the same.
  const checked = await as(env).run`config validate ${config} --json`
  expect(checked).toMatchObject({ code: 2, err: '' })
  const { faults } = JSON.parse(checked.out) as { faults: { name: string; source: string; remedy: string }[] }
  expect(faults.map(({ name, source }) => `${name} ${source}`)).toEqual([
    'VDR_BYTES environment',
    'ADMIN_TOKEN_PREVIOUS_FILE environment',
    'AGENT_LOG_LEVEL file',
    'FLOW_EXPIRY file',
  ])
  for (const { remedy } of faults) expect(remedy).toMatch(/^[A-Z].*\.$/)
})

test('validate prints a sentence for each fault, and warns of unknown variables', async () => {
  const { user, config, as } = userWith('AGENT_HTTP_PORT: 70000\n')
  using _ = user
  const { run } = as({ AGENT_TOOLSDIRECTORY: '/opt' })
  expect(await run`config validate ${config}`).toEqual({
    code: 2,
    out: `✖ AGENT_HTTP_PORT (${config}): must be at most 65535. Correct it, or remove the line.`,
    err: 'Warning: The environment variable AGENT_TOOLSDIRECTORY is not known.',
  })
  expect(await as().run`config validate`).toEqual({ code: 0, out: 'valid  environment', err: '' })
  const missing = join(user.folder, 'none.yaml')
  expect(await as().run`config validate ${missing}`).toMatchObject(
    prints(
      2,
      `✖ ${missing} cannot be read: there is no such file or folder. Correct the file, or name another.`,
    ),
  )
  // Opening a pipe must not wait for its writer.
  const pipe = join(user.folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  expect(await as().run`config validate ${pipe}`).toMatchObject(prints(2, `✖ ${pipe} is not a regular file.`))
})

test('show prints what is set and its source, without secrets', async () => {
  const { user, config, as } = userWith(
    '{"AGENT_HTTP_PORT": 9085, "ADMIN_TOKEN": "my-secret-value"}',
    'agent.json',
  )
  using _ = user
  const { run, json } = as({ FLOW_EXPIRY: '5m', AGENT_CONFIG_FILE: config })
  const { code, out, err } = await run`config show`
  expect({ code, lines: out.split('\n').map((line) => line.split(/ {2,}/)) }).toEqual({
    code: 0,
    lines: [
      ['NAME', 'VALUE', 'SOURCE'],
      ['AGENT_CONFIG_DIR', join(user.folder, 'config'), 'environment'],
      ['AGENT_CONFIG_FILE', config, 'environment'],
      ['AGENT_HTTP_PORT', '9085', 'file'],
      ['ADMIN_TOKEN', '***', 'file'],
      ['FLOW_EXPIRY', '5m', 'environment'],
    ],
  })
  expect(err).toContain(`file: ${config}`)
  expect((await run`config show --all`).out).toMatch(/^AGENT_DIDCOMM_PORT +8090 +default$/m)
  expect(await run`config show AGENT_HTTP_PORT`).toMatchObject(
    prints(0, /^value +9085\n.*source +file\n.*default +8085/ms),
  )
  expect((await json`config show mediator`).settings.length).toBeGreaterThan(5)
  expect(await run`config show AGENT_HTP_PORT`).toEqual(fails(3, 'Did you mean AGENT_HTTP_PORT?'))
  expect(JSON.stringify(await json`config show --all`)).not.toContain('my-secret-value')
  const narrow = await user.runInTerminal(['config', 'show', '--all'], { columns: 80, rows: 24 })
  expect(narrow.out.split('\n').filter((line) => line.length > 80 && !line.includes(user.folder))).toEqual([])
})
