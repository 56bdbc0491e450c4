/** The server of a command that a browser comes back to. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CommandError } from '../../cli/errors/errors.ts'
import { openRedirect } from '../../cli/redirect.ts'

const open = () =>
  openRedirect({
    path: '/callback',
    timeoutMs: 60_000,
    says: { accepted: 'Accepted.', refused: 'Refused.' },
    late: new CommandError('late', 6),
  })

const visit = async (url: string, query = '') => (await fetch(url + query)).status

test('a redirect that comes before the command knows its state is received', async () => {
  await using receiver = await open()
  const early = visit(receiver.url, '?state=one&code=a')
  // It has arrived.
  await pause(50)
  const redirect = receiver.receive('one')
  expect(await early).toBe(200)
  expect((await redirect).searchParams.get('code')).toBe('a')
})

test('all other requests are refused', async () => {
  await using receiver = await open()
  expect([await visit(receiver.url), await visit(new URL('/', receiver.url).href, '?state=one')]).toEqual([
    404, 404,
  ])
  const redirect = receiver.receive('one')
  expect(await visit(receiver.url, '?state=two&code=b')).toBe(404)
  expect(await visit(receiver.url, '?state=one&code=a')).toBe(200)
  expect((await redirect).searchParams.get('code')).toBe('a')
})
