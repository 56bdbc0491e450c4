import { describe, expect, test } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from '../../../src/foundation/net/addresses.ts'
import { words } from '../../support/words.ts'

const publicAddresses = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 169.253.255.255
  169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
  2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001::200e 2001:200::1 3ffe::1 ::ffff:8.8.8.8 ::ffff:808:808
  0:0:0:0:0:FFFF:0808:0808 64:ff9b::8.8.8.8 64:ff9b::808:808
`)

const otherAddresses = words(`
  0.0.0.0 0.1.2.3 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.255 168.63.129.16
  169.254.0.1 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.1
  198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255 :: ::1
  0:0:0:0:0:0:0:1 ::127.0.0.1 ::8.8.8.8 fc00::1 fd12:3456:789a::1 fe80::1 febf::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:7f00:1
  ::FFFF:7F00:0001 0:0:0:0:0:ffff:127.0.0.1 0000:0000:0000:0000:0000:ffff:7f00:0001 ::ffff:a9fe:a9fe ::ffff:10.1.2.3
  ::ffff:c0a8:101 ::ffff:0.0.0.0 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::7f00:1 64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b::
  64:ff9b:1::808:808 2001::1 2001:0:53aa:64c:0:fbff:80ff:fffe 2001:10::1 2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 5f00::1
  100::1 fe80::1%eth0 2001:4860:4860::8888%eth0 ::1%lo
`)

const notAddresses = [
  '',
  ...words(`
  localhost example.org 127.1 2130706433 0x7f.1 0177.0.0.1 8.8.8 8.8.8.8. [2606:4700::1] 8.8.8.8:80
`),
]

describe('isPublicAddress', () => {
  test.each(publicAddresses)('%s is public', (ip) => expect(isPublicAddress(ip)).toBe(true))
  test.each(otherAddresses)('%s is not public', (ip) => expect(isPublicAddress(ip)).toBe(false))
  test.each(notAddresses)('«%s» is not an address and so not public', (text) =>
    expect(isPublicAddress(text)).toBe(false),
  )
})

describe('isLoopbackAddress', () => {
  test.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:0:0:1'])(
    '%s is loopback',
    (ip) => {
      expect(isLoopbackAddress(ip)).toBe(true)
    },
  )
  test.each([
    '',
    ...words(`
    0.0.0.0 :: 126.255.255.255 128.0.0.1 ::2 ::127.0.0.1 64:ff9b::7f00:1 10.0.0.1 ::1%lo localhost.example
  `),
  ])('%s is not loopback', (ip) => expect(isLoopbackAddress(ip)).toBe(false))
})
