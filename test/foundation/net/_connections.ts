/** A server on all addresses of this machine, and a client with any name resolution. */
import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import type { ConnectionOptions, Lookup } from '../../../src/foundation/net/connector.ts'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** Starts a server on all addresses of this machine until the test ends. */
export async function openCanary(): Promise<TestServer> {
  const listener: RequestListener = (_, response) => response.end('{}')
  const canary = await startServer(listener, '::').catch(() => startServer(listener, '0.0.0.0'))
  onTestFinished(() => canary[Symbol.asyncDispose]())
  return canary
}

/** Creates a client that is closed when the test ends. */
export function openClient(options: ConnectionOptions) {
  const client = createHttpClient(options)
  onTestFinished(() => client.close())
  return client
}

/** Resolves every name to the same addresses. */
export const always =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
