import { expect, test } from 'vitest'
import { sortAddresses } from '../../../src/foundation/net/lan.ts'

const at = (address: string, name: string) => ({ address, network: `${address}/24`, interface: name })

test('real interfaces come before virtual ones, and that of the default route before others', () => {
  const found = [
    at('172.17.0.1', 'docker0'),
    at('10.0.0.5', 'eth0'),
    at('192.168.1.10', 'wlan0'),
    at('10.8.0.2', 'tun0'),
  ]
  const sorted = (preferred?: string) => sortAddresses(found, preferred).map((each) => each.interface)
  expect(sorted('192.168.1.10')).toEqual(['wlan0', 'eth0', 'docker0', 'tun0'])
  expect(sorted('10.8.0.2')).toEqual(['eth0', 'wlan0', 'tun0', 'docker0'])
  expect(sorted()).toEqual(['eth0', 'wlan0', 'docker0', 'tun0'])
})
