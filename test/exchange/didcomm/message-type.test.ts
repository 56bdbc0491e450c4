/** Matching of message types (DIDComm v2.1, "Semver Rules"). */
import { expect, test } from 'vitest'
import { findKnownType } from '../../../src/exchange/didcomm/message-type.ts'
import { words } from '../../support/words.ts'

const ping = 'https://didcomm.org/trust-ping/2.0/ping'
const known = [
  ping,
  'https://didcomm.org/trust-ping/2.0/ping-response',
  'https://example.org/?chess/1.2/move',
  'x:y',
]

test.each([
  [ping, ping],
  ['https://didcomm.org/trust-ping/2.1/ping', ping],
  ['https://didcomm.org/trust-ping/2.9999/ping', ping],
  ['https://didcomm.org/trust-ping/2.1/ping-response', 'https://didcomm.org/trust-ping/2.0/ping-response'],
  ['https://example.org/?chess/1.0/move', 'https://example.org/?chess/1.2/move'],
  ['https://example.org/?chess/1.10/move', 'https://example.org/?chess/1.2/move'],
  ['x:y', 'x:y'],
])('%s is read as %s', (type, as) => expect(findKnownType(known, type)).toBe(as))

test.each([
  ...words(`
    https://didcomm.org/trust-ping/1.0/ping https://didcomm.org/trust-ping/3.0/ping
    https://didcomm.org/trust-ping/20.0/ping https://didcomm.org/trust-ping/02.0/ping
    https://didcomm.org/trust-ping/2.01/ping https://didcomm.org/trust-ping/2/ping
    https://didcomm.org/trust-ping/2.0.1/ping https://didcomm.org/trust-ping/2.-1/ping
    https://didcomm.org/trust-ping/2.x/ping https://didcomm.org/trust-ping/2.10000/ping
    https://didcomm.org/trust-ping/2.1/pong https://didcomm.org/trust-ping/2.1/ping/
    https://didcomm.org/trust-ping/2.1/ https://didcomm.org/ping/2.1/ping
    https://example.org/trust-ping/2.1/ping constructor
  `),
  'evil https://didcomm.org/trust-ping/2.1/ping',
  '',
])('%j is unknown', (type) => expect(findKnownType(known, type)).toBeUndefined())

test('of several known minor versions the same one matches, otherwise the highest', () => {
  const versions = ['2.9', '2.10', '2.1', '1.11'].map(
    (version) => `https://didcomm.org/trust-ping/${version}/ping`,
  )
  for (const version of versions) expect(findKnownType(versions, version)).toBe(version)
  expect(findKnownType(versions, 'https://didcomm.org/trust-ping/2.0/ping')).toBe(
    'https://didcomm.org/trust-ping/2.10/ping',
  )
  expect(findKnownType(versions, 'https://didcomm.org/trust-ping/2.11/ping')).toBe(
    'https://didcomm.org/trust-ping/2.10/ping',
  )
})
