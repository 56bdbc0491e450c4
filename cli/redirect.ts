/**
 * Receives the redirect of a browser to this machine (RFC 8252 §7.3): a server on a free loopback port, for
 * one redirect.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CommandError } from './errors/errors.ts'

type RedirectOptions = {
  path: string
  timeoutMs: number
  /** The first sentence of the page that the browser shows after the redirect. */
  says: { accepted: string; refused: string }
  /** The error when the time is over. */
  late: CommandError
}

type RedirectReceiver = {
  url: string
  /**
   * The URL of the redirect with this `state`. All other requests are refused, since any page of the browser
   * can send some.
   *
   * @throws {CommandError} `late`
   */
  receive(state: string): Promise<URL>
  [Symbol.asyncDispose](): Promise<void>
}

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>identity-agent</title><p>${text}</p></html>`

/**
 * Opens the server. A redirect waits for the answer until `receive` is called: whoever reads the URL from the
 * daemon may be faster than the command.
 */
export async function openRedirect({
  path,
  timeoutMs,
  says,
  late,
}: RedirectOptions): Promise<RedirectReceiver> {
  let expect!: (state: string) => void
  const expected = new Promise<string>((known) => (expect = known))
  let resolve!: (url: URL) => void
  let reject!: (error: Error) => void
  const redirected = new Promise<URL>((...settle) => ([resolve, reject] = settle))
  // The person may never come back, and the server may be closed before.
  redirected.catch(() => undefined)
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // `new URL` would throw for a target such as `//`, which any page can send.
    const [asked, query] = (request.url ?? '').split('?', 2)
    const parameters = new URLSearchParams(query)
    const state = parameters.get('state')
    const isRedirect = request.method === 'GET' && asked === path && state !== null
    const isOwn = isRedirect && state === (await expected)
    response.writeHead(isOwn ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    })
    const done = parameters.has('error') ? says.refused : says.accepted
    response.end(page(isOwn ? `${done} Close this page and return to the terminal.` : 'Not found.'))
    if (isOwn) response.once('close', () => resolve(new URL(request.url!, base)))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const timer = setTimeout(() => reject(late), timeoutMs)
  return {
    url: `${base}${path}`,
    receive(state) {
      expect(state)
      return redirected
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      // A second redirect, as of a double click, may have come after the first: its page is what the person
      // sees.
      const cut = setTimeout(() => server.closeAllConnections(), 1_000)
      await new Promise((closed) => server.close(closed))
      clearTimeout(cut)
    },
  }
}
