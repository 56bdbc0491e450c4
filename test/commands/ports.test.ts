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
  const said: string[] = []
  const take = (profile: string, ...layers: Record<string, string>[]) =>
    takeFreePorts(profile, layers, (text) => said.push(text), ports)
  const free = { AGENT_HTTP_PORT: '0', AGENT_DIDCOMM_PORT: '0' }
  expect(await take('second', {}, {})).toEqual(free)
  expect(said).toEqual([`Port ${busy} is in use. The profile second takes free ports, and keeps them.`])
  expect(await take('local', {})).toEqual({})
  expect(await take('second', {}, { AGENT_HTTP_PORT: '9085' })).toEqual({})
  expect(await take('second', { AGENT_DIDCOMM_PORT: '9090' })).toEqual({ AGENT_HTTP_PORT: '0' })
})
