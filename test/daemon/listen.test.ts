/** Servers from binding to stopping. */
import { expect, test } from 'vitest'
import { built } from '../_built.ts'

const { bind, serve, stop, urlOf } = built

test('a request that comes before there is anybody to answer is sent away at once, and answered later', async () => {
  const server = await bind('127.0.0.1', 0, 'AGENT_HTTP_PORT')
  try {
    const url = urlOf(server, '127.0.0.1')
    const early = await fetch(url)
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1'])
    serve(server, (_request, response) => response.end('here'))
    expect(await (await fetch(url)).text()).toBe('here')
  } finally {
    await stop(server)
  }
})
