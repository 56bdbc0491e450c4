import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { createPolicy } from '../../../src/foundation/net/policy.ts'
import { callLimitsOf, describeReach } from '../../../src/foundation/net/reach.ts'

const configOf = (variables: Record<string, string>) =>
  readConfig({ AGENT_DATA_DIR: '/nowhere', AGENT_CONFIG_DIR: '/nowhere', ...variables })
const reachOf = (variables: Record<string, string>) => callLimitsOf(configOf(variables)).allow
const describeIt = (variables: Record<string, string>) => describeReach(configOf(variables))

const localUrls = [
  'http://localhost:8085',
  'http://127.0.0.1:1',
  'http://127.7.7.7',
  'http://[::1]:80',
  'https://agent.localhost/base',
]
const publicUrls = [
  'https://agent.example',
  'http://192.168.1.10:8085',
  'http://10.0.0.1',
  'http://0.0.0.0:8085',
  'https://localhost.example',
]
const urlVariables = ['REST_SERVICE_URL', 'DIDCOMM_SERVICE_URL', 'POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL']

describe('loopback addresses that peers and tenants name', () => {
  test.each(['127.0.0.1', 'localhost', '::1', '127.0.0.2'])(
    'are called by an agent at %s with the defaults',
    (host) => expect(reachOf({ AGENT_HOST: host })).toBe('loopback'),
  )
  test.each(localUrls)('are called by an agent with the public URL %s', (url) =>
    expect(reachOf(Object.fromEntries(urlVariables.map((name) => [name, url])))).toBe('loopback'),
  )
  test.each(['0.0.0.0', '::', '192.168.1.10', 'agent.example'])('are not called by an agent at %s', (host) =>
    expect(reachOf({ AGENT_HOST: host })).toBe('public'),
  )
  test.each(['AGENT_TRUST_PROXY', 'MEDIATOR_TRUST_PROXY'])('are not called by an agent with %s', (name) => {
    expect(reachOf({ [name]: 'true' })).toBe('public')
    expect(describeIt({ [name]: 'true' })).toBe(
      `Of the addresses that tenants and peers name, the agent calls public ones only, because ${name} is true.`,
    )
  })
  test.each(urlVariables.flatMap((name) => publicUrls.map((url) => [name, url] as const)))(
    'are not called with %s=%s',
    (name, url) => {
      expect(reachOf({ [name]: url })).toBe('public')
      expect(describeIt({ [name]: url })).toContain(`public ones only, because ${name} is ${url}.`)
    },
  )
  test('are called when the operator allows private networks', () =>
    expect(
      reachOf({ AGENT_HOST: '0.0.0.0', AGENT_TRUST_PROXY: 'true', AGENT_ALLOW_PRIVATE_NETWORK: 'true' }),
    ).toBe('private'))
})

test('a host that the operator allows is called behind a proxy too, and the sentence for the operator mentions exceptions', () => {
  const variables = {
    AGENT_TRUST_PROXY: 'true',
    AGENT_ALLOW_HOSTS: '127.0.0.7',
    AGENT_DENY_HOSTS: 'evil.example',
  }
  const policy = createPolicy(callLimitsOf(configOf(variables)))
  expect(policy.judgeHost('127.0.0.7', 8080)).toBeUndefined()
  expect(policy.judgeHost('127.0.0.8', 8080)?.code).toBe('address-not-allowed')
  expect(describeIt(variables)).toContain(', but for the exceptions in AGENT_ALLOW_HOSTS, AGENT_DENY_HOSTS.')
})

test('the sentence for the operator names the reason', () => {
  expect(describeIt({})).toBe(
    'Of the addresses that tenants and peers name, the agent calls public ones and this machine’s, because the whole deployment is on this machine.',
  )
  expect(describeIt({ AGENT_HOST: '0.0.0.0' })).toContain('public ones only, because AGENT_HOST is 0.0.0.0.')
  expect(describeIt({ AGENT_ALLOW_PRIVATE_NETWORK: 'true' })).toContain('public and private ones')
})

describe('an agent in a local network', () => {
  const variables = { AGENT_LAN: '192.168.1.10/24' }
  const judge = (ip: string, more = {}) =>
    createPolicy(callLimitsOf(configOf({ ...variables, ...more }))).judgeHost(ip, 8085)?.code

  test('calls that network, and no other addresses of private networks or of this machine', () => {
    expect(
      ['192.168.1.10', '192.168.1.77', '192.168.2.1', '127.0.0.1', '10.0.0.1'].map((ip) => judge(ip)),
    ).toEqual([undefined, undefined, ...Array(3).fill('address-not-allowed')])
    expect(describeIt(variables)).toBe(
      'Of the addresses that tenants and peers name, the agent calls public ones and the network 192.168.1.10/24, because AGENT_LAN is 192.168.1.10/24.',
    )
  })
  test('does not resolve names that only private networks know', () =>
    expect(judge('router.lan')).toBe('address-not-allowed'))
  test('does not call hosts that the operator denies, and no metadata services', () => {
    expect(judge('192.168.1.1', { AGENT_DENY_HOSTS: '192.168.1.1' })).toBe('host-denied')
    expect(judge('100.100.100.200', { AGENT_LAN: '100.100.100.1/24' })).toBe('address-not-allowed')
  })
})
