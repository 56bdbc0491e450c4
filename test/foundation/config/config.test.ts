import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { forgetSecrets, readConfig, variables } from '../../../src/foundation/config/config.ts'
import { StartError } from '../../../src/foundation/start-error.ts'

/** The error for these variables. */
function refusal(env: Record<string, string>): StartError {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof StartError) return error
    throw error
  }
  throw new Error('the variables were accepted')
}

test('all variables are optional, and an empty one counts as unset', () => {
  expect(readConfig({ ADMIN_TOKEN: '', AGENT_HTTP_PORT: '' })).toMatchObject({
    AGENT_HTTP_PORT: 8085,
    AGENT_DIDCOMM_PORT: 8090,
    API_KEY_ENABLED: true,
    API_KEY_AUTO_PROVISIONING: false,
    API_KEY_AUTHENTICATE_AS_DEFAULT_USER: false,
    DEFAULT_WALLET_ENABLED: true,
    CONNECT_INVITATION_EXPIRY: 300,
  })
})

test('a secret is not printed by accident', () => {
  const config = readConfig({ ADMIN_TOKEN: 'hunter2-of-this-test' })
  expect([JSON.stringify(config), inspect(config), String(config.ADMIN_TOKEN)].join()).not.toContain(
    'hunter2',
  )
  expect(config.ADMIN_TOKEN?.reveal()).toBe('hunter2-of-this-test')
})

test.each([
  ['300', 300],
  ['300 seconds', 300],
  ['5m', 300],
  ['5.minutes', 300],
  ['1 hour', 3_600],
  ['30 days', 2_592_000],
])('%j is %i seconds', (text, seconds) => {
  expect(readConfig({ CONNECT_INVITATION_EXPIRY: text }).CONNECT_INVITATION_EXPIRY).toBe(seconds)
})

test.each([
  [{ AGENT_HTTP_PORT: 'eighty' }, 'AGENT_HTTP_PORT'],
  [{ AGENT_HTTP_PORT: '70000' }, 'AGENT_HTTP_PORT'],
  [{ ADMIN_TOKEN: 'admin' }, 'ADMIN_TOKEN'],
  [{ DEFAULT_WALLET_AUTH_API_KEY: 'default' }, 'DEFAULT_WALLET_AUTH_API_KEY'],
  [{ AGENT_MASTER_KEY: 'c2hvcnQ' }, 'AGENT_MASTER_KEY'],
  [{ DEFAULT_WALLET_SEED: 'abc' }, 'DEFAULT_WALLET_SEED'],
  [{ CONNECT_INVITATION_EXPIRY: 'soon' }, 'CONNECT_INVITATION_EXPIRY'],
  [{ GLOBAL_WEBHOOK_URL: 'ftp://example.com' }, 'GLOBAL_WEBHOOK_URL'],
  [{ GLOBAL_WEBHOOK_URL: 'https://user:secret@example.com' }, 'GLOBAL_WEBHOOK_URL'],
  [{ GLOBAL_WEBHOOK_API_KEY: 'schlüssel' }, 'GLOBAL_WEBHOOK_API_KEY'],
  [{ DEFAULT_WALLET_WEBHOOK_API_KEY: 'two\nlines' }, 'DEFAULT_WALLET_WEBHOOK_API_KEY'],
  [{ ADMIN_TOKEN: ' spaces at its ends ' }, 'ADMIN_TOKEN'],
  [{ DIDCOMM_MAX_RECEIVE_BYTES: '16383' }, 'DIDCOMM_MAX_RECEIVE_BYTES'],
  [{ DIDCOMM_MAX_RECEIVE_BYTES: '16777217' }, 'DIDCOMM_MAX_RECEIVE_BYTES'],
  [{ DIDCOMM_MAX_RECEIVE_BYTES: '1 MiB' }, 'DIDCOMM_MAX_RECEIVE_BYTES'],
  [{ VDR_URL: 'postgres://ledger' }, 'VDR_URL'],
  [{ VDR_URL: 'sqlite:' }, 'VDR_URL'],
  [{ VDR_URL: 'https://user:secret@ledger.example.com' }, 'VDR_URL'],
  [{ VDR_URL: 'https://ledger.example.com/?network=mainnet' }, 'VDR_URL'],
  [{ DEFAULT_WALLET_ENABLED: 'false', API_KEY_ENABLED: 'false' }, 'DEFAULT_WALLET_ENABLED'],
  [{ AGENT_LAN: 'auto', API_KEY_ENABLED: 'false' }, 'API_KEY_ENABLED'],
])('a wrong variable is named, and its value is not quoted: %o', (env, name) => {
  const { message, exitCode } = refusal(env)
  expect(message).toContain(name)
  expect(exitCode).toBe(2)
  if (/TOKEN|KEY|SEED/.test(name)) expect(message).not.toContain(Object.values(env)[0])
})

test('a base URL loses its trailing slash, and the URL of a webhook does not', () => {
  const urls = {
    REST_SERVICE_URL: 'https://example.com/agent/',
    GLOBAL_WEBHOOK_URL: 'https://example.com/events/',
  }
  expect(readConfig(urls)).toMatchObject({
    REST_SERVICE_URL: 'https://example.com/agent',
    GLOBAL_WEBHOOK_URL: 'https://example.com/events/',
  })
})

test('all invalid variables are named at once', () => {
  expect(refusal({ AGENT_HTTP_PORT: 'x', AGENT_DIDCOMM_PORT: 'y' }).message).toMatch(
    /AGENT_HTTP_PORT.*AGENT_DIDCOMM_PORT/,
  )
})

test.each([
  { AGENT_MASTER_KEY: Buffer.alloc(32).toString('base64') },
  { AGENT_MASTER_KEY_FILE: '/run/secrets/key' },
])('a master key in the keyring is in no other place: %j', (other) => {
  expect(refusal({ AGENT_MASTER_KEY_STORE: 'keyring', ...other }).message).toMatch(
    /AGENT_MASTER_KEY_STORE: is keyring, and AGENT_MASTER_KEY/,
  )
})

test('the environment loses the secrets that were read from it, and nothing else', () => {
  const env: Record<string, string | undefined> = {
    AGENT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
    DEFAULT_WALLET_SEED: '0a'.repeat(64),
    ADMIN_TOKEN: 'one',
    ADMIN_TOKEN_PREVIOUS: 'two',
    GLOBAL_WEBHOOK_API_KEY: 'three',
    AGENT_HOST: '127.0.0.1',
    PATH: '/bin',
  }
  forgetSecrets(env, readConfig(env))
  expect(env).toEqual({ AGENT_HOST: '127.0.0.1', PATH: '/bin' })
})

test('every variable has a description', () => {
  for (const [name, type] of Object.entries(variables)) expect(type.description, name).toMatch(/\.$|\)\.$/)
})

test.each([
  ['sqlite:/somewhere/vdr.db', 'sqlite:/somewhere/vdr.db'],
  ['https://ledger.example.com/base/', 'https://ledger.example.com/base'],
])('the ledger is a file or a base URL: %s', (VDR_URL, expected) => {
  expect(readConfig({ VDR_URL }).VDR_URL).toBe(expected)
})
