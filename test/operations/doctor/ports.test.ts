/** Ports: which process uses one, on which addresses, and other reasons that prevent a start. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { checkFreePorts, checkOwnPorts, toAddress } from '../../../src/operations/doctor/ports.ts'
import { withDetail } from '../../support/detail.ts'

async function listen(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const isLinux = process.platform === 'linux'

test.each([
  ['0100007F', '127.0.0.1'],
  ['00000000', '0.0.0.0'],
  ['00000000000000000000000000000000', '[::]'],
  ['00000000000000000000000001000000', '[::1]'],
  ['B80D0120000000000000000001000000', '[2001:db8::1]'],
])('the address %s of /proc/net/tcp is %s', (hex, address) => expect(toAddress(hex)).toBe(address))

test.runIf(isLinux)('the addresses on which an agent listens are read from the system', async () => {
  const [api, didcomm] = [await listen('127.0.0.1'), await listen('0.0.0.0')]
  expect(checkOwnPorts({ api, didcomm })).toEqual({
    status: 'ok',
    detail: `The API listens at 127.0.0.1:${api}, DIDComm at 0.0.0.0:${didcomm}.`,
  })
})

test('a port in use has failed, with the process that uses it and the flag that selects another', async () => {
  const port = await listen('127.0.0.1')
  const found = await checkFreePorts({
    AGENT_HOST: '127.0.0.1',
    AGENT_HTTP_PORT: 0,
    AGENT_DIDCOMM_PORT: port,
  })
  expect(found).toEqual({
    status: 'failed',
    detail: expect.stringMatching(
      new RegExp(
        `^Port ${port} of 127\\.0\\.0\\.1 is ${isLinux ? `used by process ${process.pid}` : 'in use'}.*AGENT_DIDCOMM_PORT`,
      ),
    ),
    hint: 'agent daemon start --didcomm-port 0',
  })
})

test('an address of another machine has failed', async () => {
  const found = await checkFreePorts({
    AGENT_HOST: '192.0.2.1',
    AGENT_HTTP_PORT: 8085,
    AGENT_DIDCOMM_PORT: 8090,
  })
  expect(found).toMatchObject(withDetail('failed', 'EADDRNOTAVAIL'))
})

test('free ports, and port 0, are well', async () => {
  const found = await checkFreePorts({ AGENT_HOST: '127.0.0.1', AGENT_HTTP_PORT: 0, AGENT_DIDCOMM_PORT: 0 })
  expect(found).toEqual(withDetail('ok', 'any free port for the API'))
})
