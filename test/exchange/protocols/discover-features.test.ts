/** Discover Features: the disclosed features and the queries that match them. */
import { describe, expect, test } from 'vitest'
import { disclose, matches } from '../../../src/exchange/didcomm/features.ts'
import { featuresOf } from '../../../src/exchange/protocols/discover-features.ts'
import { handlers } from '../../../src/exchange/all-protocols.ts'

const features = featuresOf(20_000)

const ids = (match: string, type = 'protocol') =>
  disclose(features, [{ 'feature-type': type, match }]).map(({ id }) => id)

/** The protocol URI of a message type. */
const protocolOf = (type: string) => type.slice(0, type.lastIndexOf('/'))

test('every supported protocol is disclosed', () => {
  const spoken = new Set(Object.keys(handlers).map(protocolOf))
  const disclosed = features.map(({ id }) => id)
  expect([...spoken].filter((protocol) => !disclosed.includes(protocol))).toEqual([])
  expect(spoken.size).toBeGreaterThanOrEqual(9)
})

test('each protocol is disclosed once, with roles', () => {
  const protocols = features.filter((feature) => feature['feature-type'] === 'protocol')
  expect(new Set(protocols.map(({ id }) => id)).size).toBe(protocols.length)
  for (const { id, roles } of protocols) expect(roles?.length, id).toBeGreaterThan(0)
})

test('a query is answered with the matching features, each once, and a query of other feature types with none', () => {
  const ping = 'https://didcomm.org/trust-ping/2.0'
  expect(ids(ping)).toEqual([ping])
  expect(ids('*')).toHaveLength(features.length - 1)
  expect(ids('https://didcomm.org/*')).toContain(ping)
  expect(ids('https://didcomm.org/*')).not.toContain('https://atalaprism.io/mercury/connections/1.0')
  expect(ids('.*routing.*')).toEqual(['https://didcomm.org/routing/2.0'])
  const often = [ping, ping, '*'].map((match) => ({ 'feature-type': 'protocol', match }))
  expect(disclose(features, often).filter(({ id }) => id === ping)).toHaveLength(1)
  expect([ids('*', 'goal-code'), ids('*', 'header'), ids('', 'protocol'), ids('trust-ping')]).toEqual([
    [],
    [],
    [],
    [],
  ])
  expect(disclose(features, [{ 'feature-type': 'constraint', match: 'max_receive_bytes' }])).toEqual([
    { 'feature-type': 'constraint', id: 'max_receive_bytes', value: '20000' },
  ])
})

describe('a pattern', () => {
  const id = 'https://didcomm.org/routing/2.0'
  test.each([
    id,
    '*',
    '.*',
    'https://didcomm.org/routing/*',
    'https://didcomm.org/*/2.0',
    '.*routing.*',
    '^.*routing.*$',
    'https://didcomm\\.org/routing/2\\.0',
    'h*t*t*p*0',
    `${id}*`,
    `*${id}`,
    '*/2.0',
    '*0*',
  ])('%s matches', (match) => expect(matches(match, id)).toBe(true))

  test.each([
    '',
    'routing',
    'https://didcomm.org/routing/2.0/',
    'https://didcomm.org/routing',
    'xhttps://*',
    '*1.0',
    '*routing*trust*',
    '*2.0*2.0',
    '(https|http)://didcomm.org/routing/2.0',
    '[a-z]+',
    'https://didcomm.org/routing/2.0*0',
    '*'.repeat(501),
  ])('%s does not', (match) => expect(matches(match, id)).toBe(false))

  test('prefix and suffix of a pattern must not overlap', () => {
    expect([
      matches('a*a', 'a'),
      matches('a*a', 'aa'),
      matches('ab*ba', 'aba'),
      matches('*a*b*', 'ba'),
      matches('*a*b*', 'ab'),
    ]).toEqual([false, true, false, false, true])
  })

  test('that is built to cause backtracking is matched in linear time', () => {
    const evil = [
      `${'a*'.repeat(249)}b`,
      `(${'a+'.repeat(200)})+$`,
      '.*'.repeat(250),
      `*${'ab*'.repeat(160)}`,
    ]
    const long = `https://example.org/${'ab'.repeat(10_000)}`
    for (let n = 0; n < 1_000; n++) for (const match of evil) matches(match, long)
    expect(matches('.*'.repeat(250), long)).toBe(true)
  })
})
