/** `agent config set` and `unset`, and `agent init`. */
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askSettings, toFile } from '../../cli/daemon/new-settings.ts'
import { fails, newUser } from './_cli.ts'
import { keys, newTerminal } from './_terminal.ts'

const free = { AGENT_DATA_DIR: '', AGENT_HTTP_PORT: '', AGENT_DIDCOMM_PORT: '' }

/** A user whose environment has no settings, and a configuration file. */
function userWith(text: string, name = 'agent.yaml') {
  const user = newUser()
  const path = join(user.folder, name)
  writeFileSync(path, text, { mode: 0o640 })
  const settings = join(user.folder, 'config', 'settings', 'local.json')
  const { run, json } = user.as(free)
  return {
    run,
    json,
    path,
    settings,
    user,
    text: () => readFileSync(path, 'utf8'),
    [Symbol.dispose]: user.remove,
  }
}

test('set changes a YAML file, and keeps comments, order and mode', async () => {
  using own = userWith('# ours\nAGENT_MEDIATOR: true # for phones\n\nAGENT_HTTP_PORT: 9000\n')
  const { run, json, path } = own
  expect(await run`config set agent_http_port 9085 --config ${path}`).toMatchObject({ code: 0 })
  await run`config set AGENT_ALLOW_HOSTS a.example,b.example --config ${path}`
  await run`config set FLOW_EXPIRY 5m --config ${path}`
  expect(own.text()).toBe(
    '# ours\nAGENT_MEDIATOR: true # for phones\n\nAGENT_HTTP_PORT: 9085\nAGENT_ALLOW_HOSTS:\n  - a.example\n  - b.example\nFLOW_EXPIRY: 5m\n',
  )
  expect(statSync(path).mode & 0o777).toBe(0o640)
  expect(await json`config validate ${path}`).toMatchObject({ valid: true, faults: [] })
  for (const name of ['AGENT_ALLOW_HOSTS', 'FLOW_EXPIRY'])
    expect(await json`config unset ${name} --config ${path}`).toEqual({ name, removedFrom: [path] })
  expect(own.text()).toBe('# ours\nAGENT_MEDIATOR: true # for phones\n\nAGENT_HTTP_PORT: 9085\n')
  expect(await json`config unset FLOW_EXPIRY --config ${path}`).toMatchObject({ removedFrom: [] })
  // A link stays one.
  const link = join(own.user.folder, 'link.yaml')
  symlinkSync(path, link)
  await run`config set AGENT_HTTP_PORT 9086 --config ${link}`
  expect(own.text()).toContain('AGENT_HTTP_PORT: 9086')
})

test('set changes a JSON file, and the settings of the profile without a configuration file', async () => {
  using own = userWith('{"AGENT_HTTP_PORT": 1, "AGENT_MEDIATOR": true}', 'agent.json')
  const { run, json, path, settings } = own
  await run`config set AGENT_HTTP_PORT 2 --config ${path}`
  expect(own.text()).toBe('{\n  "AGENT_HTTP_PORT": 2,\n  "AGENT_MEDIATOR": true\n}\n')
  expect(await json`config set AGENT_HTTPS false`).toEqual({
    name: 'AGENT_HTTPS',
    value: 'false',
    path: settings,
  })
  await own.user.as(free).run(['config', 'set', 'ADMIN_TOKEN', '-'], { input: 'a-very-secret-token\n' })
  expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({
    AGENT_HTTPS: false,
    ADMIN_TOKEN: 'a-very-secret-token',
  })
  expect(statSync(settings).mode & 0o777).toBe(0o600)
  const shown = await run`config set ADMIN_TOKEN another-secret-token`
  expect(shown.out).toContain('***')
  expect(`${shown.out}${shown.err}`).not.toContain('another-secret')
  // The next start reads the file that the profile names, and so does set.
  await run`config set AGENT_CONFIG_FILE ${path}`
  expect(await json`config set FLOW_EXPIRY 1h`).toMatchObject({ path })
  expect(await json`config show FLOW_EXPIRY`).toMatchObject({ settings: [{ value: '1h', source: 'file' }] })
})

test.each([
  ['AGENT_HTP_PORT', '1', 'AGENT_HTP_PORT is not the name of a setting. Did you mean AGENT_HTTP_PORT?'],
  ['nonsense', '1', 'nonsense is not the name of a setting.'],
  ['AGENT_PROFILE', 'x', 'AGENT_PROFILE locates the settings, and cannot be one of them.'],
  ['AGENT_HTTP_PORT', '70000', 'AGENT_HTTP_PORT must be at most 65535.'],
  ['AGENT_MEDIATOR', 'yes', 'AGENT_MEDIATOR must be "true", "1", "false" or "0".'],
])('set %s %j is refused before anything is written', async (name, value, title) => {
  using own = userWith('AGENT_HTTP_PORT: 1\n')
  const { code, out, err } = await own.run`config set ${name} ${value} --config ${own.path}`
  expect({ code, out, title: err.split('\n')[0] }).toEqual({ code: 2, out: '', title: `Error: ${title}` })
  expect(err).toContain('Try: agent config show')
  expect(own.text()).toBe('AGENT_HTTP_PORT: 1\n')
})

test('set says what else decides, and refuses a file that it cannot read', async () => {
  using own = userWith('a: [\n')
  expect(await own.run`config set AGENT_HTTP_PORT 1 --config ${own.path}`).toEqual(
    fails(2, /agent\.yaml is not valid YAML at line \d/),
  )
  expect(own.text()).toBe('a: [\n')
  const by = own.user.as({ ...free, AGENT_HTTP_PORT: '9' })
  const { code, err } = await by.run`config set AGENT_HTTP_PORT 9085`
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringContaining('The environment variable AGENT_HTTP_PORT has precedence.'),
  })
  expect((await own.run`config set AGENT_TLS_CERT_FILE cert.pem`).err).toContain(
    'Warning: The next start would refuse:',
  )
})

test('init writes a file of defaults or of flags, and never replaces one', async () => {
  using user = newUser()
  const { run, json } = user.as(free)
  const file = join(user.folder, 'new.yaml')
  expect(await run`init ${file}`).toEqual(fails(2, 'There is no terminal to ask at: add --yes'))
  expect(existsSync(file)).toBe(false)
  expect(await run`init ${file} --yes --port 70000`).toEqual(fails(2, '--port must be at most 65530.'))
  expect(await run`init ${file} --yes --public-url https://a.example`).toEqual(
    fails(2, '--public-url needs --didcomm-url'),
  )
  expect(existsSync(file)).toBe(false)
  const { code, err } =
    await run`init ${file} --yes --name acme --port 9085 --webhook https://a.example/events`
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringContaining(`agent daemon start --config ${file} --profile acme`),
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { settings } = await json`config show --config ${file}`
  const set = Object.fromEntries(settings.map(({ name, value }: any) => [name, value]))
  expect(set).toMatchObject({
    AGENT_HTTP_PORT: '9085',
    AGENT_DIDCOMM_PORT: '9090',
    GLOBAL_WEBHOOK_URL: 'https://a.example/events',
  })
  const text = readFileSync(file, 'utf8')
  expect(await run`init ${file} --yes`).toEqual(fails(5, 'is there already, and stays as it is.'))
  expect(readFileSync(file, 'utf8')).toBe(text)
  const plain = join(user.folder, 'plain.yaml')
  expect(await json`init ${plain} --yes`).toEqual({ file: plain, profile: 'local' })
  expect(await json`config validate ${plain}`).toMatchObject({ valid: true })
})

test('init asks five questions, and for what an answer needs', async () => {
  const terminal = newTerminal()
  const answers = askSettings({}, terminal)
  await terminal.shows('Name of the agent')
  terminal.types('acme', keys.enter)
  await terminal.shows('Port of the HTTP API')
  terminal.types('99999', keys.enter)
  await terminal.shows('must be at most')
  terminal.types(...Array.from({ length: 5 }, () => '\u007f'), keys.enter)
  await terminal.shows('Public URL of the HTTP API')
  terminal.types('https://a.example', keys.enter)
  await terminal.shows('Public URL of the DIDComm endpoint')
  terminal.types('https://d.example', keys.enter)
  await terminal.shows('Where are wallets stored?')
  terminal.types(keys.enter)
  await terminal.shows('URL that receives the events')
  terminal.types(keys.enter)
  expect(await answers).toEqual({
    name: 'acme',
    'public-url': 'https://a.example',
    'didcomm-url': 'https://d.example',
  })
  const file = toFile(await answers)
  expect(file).toMatch(/^REST_SERVICE_URL: "https:\/\/a\.example"$/m)
  expect(file).toMatch(/^# AGENT_HTTP_PORT: 8085$/m)
})
