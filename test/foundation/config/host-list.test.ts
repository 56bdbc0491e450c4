import { expect, test } from 'vitest'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { readHostList, readPorts } from '../../../src/foundation/config/host-list.ts'
import { words } from '../../support/words.ts'

test('names, suffixes, networks and * are recognised, with names as URLs spell them', () => {
  expect(
    readHostList(
      ' Hooks.Example. , .partner.example,10.0.0.0/8, [fd00::1] ,::1/128, 192.0.2.1,faß.example,my_service,*,',
    ),
  ).toEqual({
    names: ['hooks.example', 'xn--fa-hia.example', 'my_service'],
    suffixes: ['partner.example'],
    networks: ['10.0.0.0/8', 'fd00::1/128', '::1/128', '192.0.2.1/32'],
    rest: true,
  })
  expect(readHostList('')).toEqual({ names: [], suffixes: [], networks: [], rest: false })
})

test.each([
  ...words(`
    *.example http://a.example a.example:80 a.example/8 10.0.0.0/33 10.0.0.0/x ::/129 10.0.0.0/ 10.0.0.0/8/8
    127.1 0x7f000001 a@b.example . .. fe80::1%eth0 a?b 10.0.0/8
  `),
  'a b',
])('«%s» is not an entry, and the error names it', (entry) => {
  expect(() => readHostList(`ok.example,${entry}`)).toThrow(SyntaxError)
  expect(() => readHostList(`ok.example,${entry}`)).toThrow(entry)
})

test('ports are single or ranges', () => {
  expect(readPorts('443, 8000-8999,1')).toEqual([
    [443, 443],
    [8000, 8999],
    [1, 1],
  ])
})
test.each(['0', '65536', '9-8', 'a', '80-', '-80', '8.0', '1-2-3'])('%j is not a port', (text) =>
  expect(() => readPorts(text)).toThrow(text),
)

test.each([
  ['AGENT_ALLOW_HOSTS', 'http://a.example', /AGENT_ALLOW_HOSTS: http:\/\/a\.example is not a name/],
  ['AGENT_ALLOW_HOSTS', '*', /AGENT_ALLOW_HOSTS: names no hosts with \*/],
  ['AGENT_DENY_HOSTS', '10.0.0.0/64', /AGENT_DENY_HOSTS: 10\.0\.0\.0\/64 is not a network/],
  ['AGENT_ALLOW_PORTS', 'https', /AGENT_ALLOW_PORTS: https is neither a port/],
  ['AGENT_CORS_ORIGINS', '*', /AGENT_CORS_ORIGINS: \* is not an origin/],
  ['AGENT_CORS_ORIGINS', 'null', /AGENT_CORS_ORIGINS: null is not an origin/],
  ['AGENT_CORS_ORIGINS', 'https://a.example/', /AGENT_CORS_ORIGINS: https:\/\/a\.example\/ is not an origin/],
  ['AGENT_CORS_ORIGINS', 'https://*.example', /AGENT_CORS_ORIGINS/],
  ['AGENT_CORS_ORIGINS', 'a.example', /AGENT_CORS_ORIGINS/],
  ['AGENT_CORS_ORIGINS', 'file://x', /AGENT_CORS_ORIGINS/],
])('%s=%s stops the start with the reason', (name, value, message) =>
  expect(() => readConfig({ [name]: value })).toThrow(message),
)

test('all entries are read', () => {
  const config = readConfig({
    AGENT_DENY_HOSTS: '*',
    AGENT_ALLOW_PORTS: '443',
    AGENT_CORS_ORIGINS: 'https://A.example, http://localhost:3000',
  })
  expect(config.AGENT_DENY_HOSTS?.rest).toBe(true)
  expect(config.AGENT_ALLOW_PORTS).toEqual([[443, 443]])
  expect(config.AGENT_CORS_ORIGINS).toEqual(['https://a.example', 'http://localhost:3000'])
})
