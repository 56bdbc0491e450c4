/** Receives the redirect of a browser to this machine (RFC 8252 §7.3): a server on a free loopback port, for one redirect. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CommandError } from '../errors/errors.ts'

const path = '/signed-in'

const timeoutMs = 300_000

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>identity-agent</title><p>${text}</p></html>`

export type RedirectReceiver = {
  /** The redirect URI. */
  url: string
  /** The URL of the redirect. Rejects after five minutes. */
  redirected: Promise<URL>
  [Symbol.asyncDispose](): Promise<void>
}

/** Requests without the state of this sign-in are refused: any page of the browser can send some. */
export async function receiveRedirect(state: string): Promise<RedirectReceiver> {
  let resolve: (url: URL) => void
  let reject: (error: Error) => void
  const redirected = new Promise<URL>((done, failed) => {
    resolve = done
    reject = failed
  })
  // The person may never come back. The caller waits for the promise later.
  redirected.catch(() => undefined)
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', base())
    const isRedirect =
      request.method === 'GET' && url.pathname === path && url.searchParams.get('state') === state
    response.writeHead(isRedirect ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      connection: 'close',
    })
    const isRefused = url.searchParams.has('error')
    const done = isRefused ? 'You are not signed in.' : 'You are signed in.'
    response.end(page(isRedirect ? `${done} Close this page and return to the terminal.` : 'Not found.'))
    if (isRedirect) response.once('close', () => resolve(url))
  })
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(0, '127.0.0.1', listening)
  })
  const timer = setTimeout(
    () => reject(new CommandError('Timed out: nobody has signed in.', 6, 'agent login')),
    timeoutMs,
  )
  return {
    url: `${base()}${path}`,
    redirected,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
