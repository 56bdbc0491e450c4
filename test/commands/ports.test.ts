/** The ports of a second profile. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { takeFreePorts } from '../../cli/daemon/ports.ts'
import { untilEnd } from '../support/shared.ts'

async function listen() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.asyncDispose]: async () => void server.close() }
}

const { port: busy } = await untilEnd(listen())

test('another profile takes free ports if a default one is in use and no source sets it', async () => {
  const ports = { AGENT_HTTP_PORT: busy, AGENT_DIDCOMM_PORT: 0 }
  const take = (profile: string, ...layers: Record<string, string>[]) => takeFreePorts(profile, layers, ports)
  const free = { AGENT_HTTP_PORT: '0', AGENT_DIDCOMM_PORT: '0' }
  expect(await take('second', {}, {})).toEqual({ settings: free, busy: [busy] })
  expect(await take('local', {})).toEqual({ settings: {}, busy: [] })
  expect(await take('second', {}, { AGENT_HTTP_PORT: '9085' })).toEqual({ settings: {}, busy: [] })
  expect(await take('second', { AGENT_DIDCOMM_PORT: '9090' })).toEqual({
    settings: { AGENT_HTTP_PORT: '0' },
    busy: [busy],
  })
  expect(await takeFreePorts('second', [{}], { AGENT_HTTP_PORT: 0 })).toEqual({ settings: {}, busy: [] })
})
