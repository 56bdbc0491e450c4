/** Configuration files: `inspect` and the JSON Schema accept and refuse the same files. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { configSchema, inspect, toRows } from '../../../src/foundation/config/report.ts'
import { readConfigFile } from '../../../src/foundation/config/file.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-file-'))
afterAll(() => rmSync(folder, { recursive: true }))
const conforms = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(configSchema())
let count = 0

/** Writes a file. */
function write(text: string | Uint8Array, ending = 'yaml'): string {
  const path = join(folder, `${count++}.${ending}`)
  writeFileSync(path, text)
  return path
}

/** Inspects a configuration with this file and nothing else. */
const check = (path: string, env: Record<string, string> = {}) =>
  inspect({ AGENT_CONFIG_DIR: folder, AGENT_DATA_DIR: folder, AGENT_CONFIG_FILE: path, ...env })

test.each([
  ['AGENT_HTTP_PORT: 0', { AGENT_HTTP_PORT: 0 }],
  ['AGENT_MEDIATOR: true', { AGENT_MEDIATOR: true }],
  ['FLOW_EXPIRY: 300', { FLOW_EXPIRY: 300 }],
  ['FLOW_EXPIRY: 30 days', { FLOW_EXPIRY: 2_592_000 }],
  ['VDR_CONFIRM_AFTER: 0', { VDR_CONFIRM_AFTER: 0 }],
  ['AGENT_LOG_LEVEL: warn', { AGENT_LOG_LEVEL: 'warn' }],
  [
    'AGENT_ALLOW_PORTS: [443, 8000-8999]',
    {
      AGENT_ALLOW_PORTS: [
        [443, 443],
        [8_000, 8_999],
      ],
    },
  ],
  [
    'AGENT_CORS_ORIGINS: [https://a.example, https://b.example]',
    { AGENT_CORS_ORIGINS: ['https://a.example', 'https://b.example'] },
  ],
  [
    'AGENT_CORS_ORIGINS: https://a.example,https://b.example',
    { AGENT_CORS_ORIGINS: ['https://a.example', 'https://b.example'] },
  ],
  ['AUTH_DID_METHODS: [peer, web]', { AUTH_DID_METHODS: ['peer', 'web'] }],
  ['REST_SERVICE_URL: https://agent.example/base/', { REST_SERVICE_URL: 'https://agent.example/base' }],
  ['VDR_URL: https://ledger.example', { VDR_URL: 'https://ledger.example' }],
  ['VDR_URL: "sqlite:ledger.db"', { VDR_URL: `sqlite:${join(folder, 'ledger.db')}` }],
  ['AGENT_MASTER_KEY_FILE: keys/master', { AGENT_MASTER_KEY_FILE: join(folder, 'keys/master') }],
  ['$schema: ./settings.schema.json', {}],
  ['# nothing yet\n{}', {}],
  ['\ufeffAGENT_HTTP_PORT: 1', { AGENT_HTTP_PORT: 1 }],
])('a good file: %j', async (text, expected) => {
  const { faults, config } = await check(write(text))
  expect(faults).toEqual([])
  expect(config).toMatchObject(expected)
  expect(conforms(parse(text.replace('\ufeff', ''))), JSON.stringify(conforms.errors)).toBe(true)
  const json = JSON.stringify(parse(text.replace('\ufeff', '')))
  expect(await check(write(json, 'json'))).toMatchObject({ faults: [], config: expected })
})

test('all defaults together conform', async () => {
  const properties = configSchema()['properties'] as Record<string, { default?: unknown }>
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  expect(defaults.length).toBeGreaterThan(50)
  const file = Object.fromEntries(defaults)
  expect(conforms(file), JSON.stringify(conforms.errors)).toBe(true)
  expect((await check(write(JSON.stringify(file), 'json'))).faults).toEqual([])
})

const seed = '0a'.repeat(64)
// The text, and what the fault of the file or its setting says.
test.each([
  ['AGENT_HTP_PORT: 1', 'AGENT_HTP_PORT', 'is not the name of a setting', 'Did you mean AGENT_HTTP_PORT?'],
  ['COLOUR: red', 'COLOUR', 'is not the name of a setting', '`agent config show --all` lists the names.'],
  ['__proto__: {AGENT_HTTP_PORT: 1}', '__proto__', 'is not the name of a setting'],
  ['constructor: 1', 'constructor', 'is not the name of a setting'],
  ['AGENT_PROFILE: bob', 'AGENT_PROFILE', 'locates the settings, and cannot be one of them'],
  ['AGENT_CONFIG_DIR: /etc', 'AGENT_CONFIG_DIR', 'locates the settings'],
  ['AGENT_CONFIG_FILE: other.yaml', 'AGENT_CONFIG_FILE', 'locates the settings'],
  ['AGENT_API_KEY: my-secret-value', 'AGENT_API_KEY', 'is of the command line'],
  ['AGENT_HTTP_PORT: "9085"', 'AGENT_HTTP_PORT', 'must be a whole number, without quotes, and is a text'],
  ['AGENT_HTTP_PORT: 70000', 'AGENT_HTTP_PORT', 'must be at most 65535'],
  ['AGENT_HTTP_PORT: 1.5', 'AGENT_HTTP_PORT', 'must be a whole number'],
  ['AGENT_HTTP_PORT:', 'AGENT_HTTP_PORT', 'has no value'],
  ['AGENT_HOST: ""', 'AGENT_HOST', 'has no value'],
  ['AGENT_MEDIATOR: "true"', 'AGENT_MEDIATOR', 'must be true or false, without quotes, and is a text'],
  ['AGENT_MEDIATOR: yes', 'AGENT_MEDIATOR', 'must be true or false'],
  ['AGENT_MEDIATOR: 1', 'AGENT_MEDIATOR', 'and is a number'],
  ['AGENT_LOG_LEVEL: loud', 'AGENT_LOG_LEVEL', 'must be "fatal"'],
  ['AGENT_LOG_LEVEL: [info]', 'AGENT_LOG_LEVEL', 'must be a text, in quotes, and is a list'],
  ['FLOW_EXPIRY: 0', 'FLOW_EXPIRY', 'must be longer than 0 seconds'],
  ['FLOW_EXPIRY: 0 days', 'FLOW_EXPIRY', 'must be longer than 0 seconds'],
  ['FLOW_EXPIRY: soon', 'FLOW_EXPIRY', 'is not a duration'],
  ['FLOW_EXPIRY: 1.5', 'FLOW_EXPIRY', 'is not a duration'],
  ['ADMIN_TOKEN: 0123456789', 'ADMIN_TOKEN', 'must be a text, in quotes, and is a number'],
  ['ADMIN_TOKEN: admin', 'ADMIN_TOKEN', 'is a well-known value'],
  ['ADMIN_TOKEN: " my-secret-value"', 'ADMIN_TOKEN', 'is not visible ASCII'],
  [`DEFAULT_WALLET_SEED: ${seed}0`, 'DEFAULT_WALLET_SEED', 'is not 128 hexadecimal digits'],
  ['{ADMIN_TOKEN: my-secret-value, ADMIN_TOKEN_FILE: x}', 'ADMIN_TOKEN_FILE', 'is set beside ADMIN_TOKEN'],
  [
    '{AGENT_MASTER_KEY_STORE: keyring, AGENT_MASTER_KEY_FILE: x}',
    'AGENT_MASTER_KEY_STORE',
    'is keyring, and AGENT_MASTER_KEY_FILE',
  ],
  [
    'AGENT_ALLOW_HOSTS: {a: b}',
    'AGENT_ALLOW_HOSTS',
    'must be a list of texts, or a text with commas, and is an object',
  ],
  ['AGENT_ALLOW_HOSTS: []', 'AGENT_ALLOW_HOSTS', 'and is an empty list'],
  ['AGENT_ALLOW_HOSTS: [[a]]', 'AGENT_ALLOW_HOSTS', 'must be a list of texts'],
  ['AGENT_ALLOW_PORTS: [0]', 'AGENT_ALLOW_PORTS', '0 is neither a port'],
  ['AUTH_DID_METHODS: [ion]', 'AUTH_DID_METHODS', 'must be "peer"'],
  ['REST_SERVICE_URL: ftp://agent.example', 'REST_SERVICE_URL', 'must be an absolute http or https URL'],
  ['GLOBAL_WEBHOOK_URL: https://my-secret-value@a.example', 'GLOBAL_WEBHOOK_URL', 'has a user name'],
  ['VDR_URL: postgres://ledger', 'VDR_URL', 'is neither sqlite'],
  ['[AGENT_HTTP_PORT]', undefined, 'is not an object of settings'],
  ['9085', undefined, 'is not an object of settings'],
])('a file that is refused: %s', async (text, name, reason, remedy?: string) => {
  const path = write(text)
  const { faults, config } = await check(path)
  expect(config).toBeUndefined()
  expect(faults).toEqual([
    expect.objectContaining({
      ...(name !== undefined && { name }),
      source: 'file',
      path,
      reason: expect.stringContaining(reason),
      ...(remedy !== undefined && { remedy }),
    }),
  ])
  expect(JSON.stringify(faults)).not.toMatch(/my-secret-value|0123456789/)
  expect(conforms(JSON.parse(JSON.stringify(parse(text)))), text).toBe(false)
})

// What a schema cannot describe.
test.each([
  ['AGENT_ALLOW_HOSTS: [a/b]', 'AGENT_ALLOW_HOSTS'],
  ['AGENT_CORS_ORIGINS: [https://a.example/path]', 'AGENT_CORS_ORIGINS'],
  ['ADMIN_TOKEN_FILE: /nowhere', 'ADMIN_TOKEN_FILE'],
  ['DEFAULT_WALLET_ENABLED: false\nAPI_KEY_ENABLED: false', 'DEFAULT_WALLET_ENABLED'],
])('only `agent config validate` refuses %j', async (text, name) => {
  expect((await check(write(text))).faults).toMatchObject([{ name, source: 'file' }])
  expect(conforms(parse(text))).toBe(true)
})

test.each([
  ['', 'yaml', 'is empty'],
  [' \n\n', 'json', 'is empty'],
  ['{"AGENT_HTTP_PORT": 1,}', 'json', 'is not JSON'],
  ['{"AGENT_HTTP_PORT": 1, "AGENT_HTTP_PORT": 2}', 'json', 'names a member twice'],
  ['['.repeat(100), 'json', 'is nested deeper than 64 levels'],
  ['AGENT_HTTP_PORT: 1\nAGENT_HTTP_PORT: 2', 'yaml', 'names a setting twice at line 2, column 1'],
  ['AGENT_HOST: "my-secret-value', 'yaml', 'is not valid YAML at line 1'],
  ['AGENT_HOST: a\n\tAGENT_PROFILE: b', 'yaml', 'is indented with a tab at line 2, column 1'],
  ['a: 1\n---\nb: 2', 'yaml', 'has a second document at line 2'],
  ['AGENT_HOST: !vault my-secret-value', 'yaml', 'has a tag at line 1, column 13'],
  ['AGENT_HOST: &a x\nVDR_URL: *a', 'yaml', 'is not YAML without aliases'],
  [Buffer.from([0xff, 0xfe, 0x41, 0]), 'yaml', 'is not UTF-8'],
])('a file that is not an object of settings: %j.%s', (text, ending, reason) => {
  const path = write(text, ending)
  const { values, faults } = readConfigFile(path)
  expect(values).toEqual({})
  expect(faults).toEqual([{ source: 'file', path, reason: expect.stringContaining(reason) }])
  expect(JSON.stringify(faults)).not.toContain('my-secret-value')
})

test('a file that is nested deeply is refused', () => {
  const path = write('['.repeat(50_000))
  expect(readConfigFile(path).faults).toMatchObject([{ path, reason: expect.stringContaining('YAML') }])
})

test('what is large, or not a regular file, is refused at once', () => {
  const directory = join(folder, 'directory')
  mkdirSync(directory)
  const reasonOf = (path: string) => readConfigFile(path).faults[0]!.reason
  expect(reasonOf(directory)).toBe('is a folder')
  expect(reasonOf(write(Buffer.alloc(1_048_577, ' ')))).toBe('has more than 1048576 bytes')
  expect(reasonOf('/dev/zero')).toBe('is not a regular file')
  expect(reasonOf(join(folder, 'none'))).toBe('cannot be read: there is no such file or folder')
})

test('a flag wins over the environment, the file, the settings of the profile and the default', async () => {
  const configDir = mkdtempSync(join(folder, 'profiles-'))
  mkdirSync(join(configDir, 'settings'))
  const values = (value: number, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, value]))
  const names = ['AGENT_HTTP_PORT', 'AGENT_DIDCOMM_PORT', 'AGENT_CONNECTIONS', 'WEBHOOKS_PER_WALLET']
  writeFileSync(join(configDir, 'settings', 'local.json'), JSON.stringify(values(4, names)))
  const path = write(JSON.stringify(values(3, names.slice(0, 3))), 'json')
  const env = { AGENT_HTTP_PORT: '2', AGENT_DIDCOMM_PORT: '2', AGENT_CONFIG_DIR: configDir }
  const inspected = await inspect({ ...env, AGENT_CONFIG_FILE: path }, ['AGENT_HTTP_PORT=1'])
  expect(inspected.config).toMatchObject({
    AGENT_HTTP_PORT: 1,
    AGENT_DIDCOMM_PORT: 2,
    AGENT_CONNECTIONS: 3,
    WEBHOOKS_PER_WALLET: 4,
    AGENT_OPEN_WALLETS: 200,
  })
  const rows = new Map(toRows(inspected).map(({ name, value, source }) => [name, [value, source]]))
  expect([...names, 'AGENT_OPEN_WALLETS'].map((name) => rows.get(name))).toEqual([
    ['1', 'flag'],
    ['2', 'environment'],
    ['3', 'file'],
    ['4', 'profile'],
    ['200', 'default'],
  ])
})

test('the environment overrides the file, and a value that is not used is checked too', async () => {
  const path = write('AGENT_HTTP_PORT: 70000\nAGENT_LOG_LEVEL: warn')
  const { faults, layerOf } = await check(path, { AGENT_HTTP_PORT: '9000', AGENT_DIDCOMM_PORT: 'x' })
  expect(faults.map(({ name, source }) => [name, source])).toEqual([
    ['AGENT_DIDCOMM_PORT', 'environment'],
    ['AGENT_HTTP_PORT', 'file'],
  ])
  expect(layerOf('AGENT_HTTP_PORT')?.source).toBe('environment')
  expect(layerOf('AGENT_LOG_LEVEL')).toMatchObject({ source: 'file', path })
})

test('a secret comes from a file, without its line break, from the highest source that has one of the two', async () => {
  const secret = write('one-secret\r\n', 'secret')
  const other = write(`ADMIN_TOKEN_FILE: ${write('of-the-file\n', 'secret')}`)
  const tokenOf = async (env: Record<string, string>) =>
    (await check(other, env)).config?.ADMIN_TOKEN?.reveal()
  expect(await tokenOf({})).toBe('of-the-file')
  expect(await tokenOf({ ADMIN_TOKEN_FILE: secret })).toBe('one-secret')
  expect(await tokenOf({ ADMIN_TOKEN: 'of-the-environment' })).toBe('of-the-environment')
  const row = toRows(await check(other, { ADMIN_TOKEN_FILE: secret })).find(
    ({ name }) => name === 'ADMIN_TOKEN',
  )
  expect(row).toMatchObject({ value: '***', source: 'environment', secretFile: secret })
})

test.each([
  ['\n', 'is empty'],
  ['hunter2\nsecond line', 'names a file whose content is not visible ASCII'],
  ['admin', 'is a well-known value'],
])('a secret in a file is checked: %j', async (text, reason) => {
  const path = write(text, 'secret')
  const { faults } = await check(write('{}'), { ADMIN_TOKEN_FILE: path })
  expect(faults).toMatchObject([{ name: 'ADMIN_TOKEN_FILE', source: 'environment' }])
  expect(faults[0]!.reason).toContain(reason)
  expect(JSON.stringify(faults)).not.toContain('hunter2')
})

test('a secret in a file that others can read is a warning', async () => {
  const path = write('ADMIN_TOKEN: my-secret-value')
  execFileSync('chmod', ['644', path])
  expect((await check(path)).warnings).toEqual([
    `Others on this machine can read ${path}, which has ADMIN_TOKEN. Make it yours: chmod 600 ${path}`,
  ])
  execFileSync('chmod', ['600', path])
  expect((await check(path)).warnings).toEqual([])
})
