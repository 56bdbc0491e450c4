/**
 * Whom limits count: an address, or the network that a sender has all addresses of; behind a proxy, what the
 * proxy says.
 */
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { addressOf } from '../../daemon/middleware/address.ts'

const request = (remoteAddress: string | undefined, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8:1::2:3:4', '2001:db8:1:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  [undefined, ''],
])('%s is counted as %s', (ip, counted) => {
  expect(addressOf(request(ip), false)).toBe(counted)
})

test.each([
  ['without a trusted proxy, the header is ignored', false, '198.51.100.7', '192.0.2.1'],
  ['the proxy says who it is', true, '198.51.100.7', '198.51.100.7'],
  ['only the last entry is the proxy’s', true, '203.0.113.9, 198.51.100.7', '198.51.100.7'],
  ['the proxy speaks IPv6', true, '203.0.113.9,2001:db8:1:2::3', '2001:db8:1:2'],
  ['the proxy says nothing', true, undefined, '192.0.2.1'],
  ['the proxy says what is not an address', true, 'unknown', '192.0.2.1'],
])('%s', (_, isProxied, forwarded, counted) => {
  expect(addressOf(request('192.0.2.1', forwarded), isProxied)).toBe(counted)
})
