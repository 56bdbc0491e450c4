/** The redirect URI of the command line: a listener on the loopback interface that receives one authorization response (RFC 8252 §7.3). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CommandError } from './errors/errors.ts'

/** The members of the response that the daemon checks. */
export type Redirect = {
  state: string
  code?: string
  iss?: string
  error?: string
  errorDescription?: string
}

export type Callback = {
  url: string
  /** @throws {CommandError} 6 when the time is over */
  parameters: Promise<Redirect>
  [Symbol.asyncDispose](): Promise<void>
}

const path = '/callback'

export async function openCallback(timeoutMs: number): Promise<Callback> {
  let resolve!: (redirect: Redirect) => void
  let reject!: (error: Error) => void
  const parameters = new Promise<Redirect>((...settle) => ([resolve, reject] = settle))
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const redirect = request.method === 'GET' && pathname === path ? read(searchParams) : undefined
    response
      .writeHead(redirect ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
      })
      .end(redirect ? 'Go back to the terminal. You can close this page.\n' : 'Not found\n')
    if (redirect) resolve(redirect)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const timer = setTimeout(() => {
    reject(new CommandError('Timed out: the browser did not come back with your consent.', 6))
  }, timeoutMs)
  // The listener may be closed before anyone waits.
  parameters.catch(() => undefined)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    parameters,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      server.close()
      server.closeIdleConnections()
    },
  }
}

function read(parameters: URLSearchParams): Redirect | undefined {
  const state = parameters.get('state')
  if (state === null) return undefined
  const optional = (name: string) => parameters.get(name) ?? undefined
  const all = {
    state,
    code: optional('code'),
    iss: optional('iss'),
    error: optional('error'),
    errorDescription: optional('error_description'),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Redirect
}
