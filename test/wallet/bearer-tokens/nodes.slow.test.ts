/** Bearer tokens at several nodes: each one verifies, and permissions take effect at all of them at once. */
import { expect, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { adminOf } from '../../support/api.ts'
import { ask } from '../../support/ask.ts'
import { needsPostgres } from '../../support/needs-postgres.ts'
import { startNodes } from '../../cluster/_nodes.ts'
import { accepting, bearer, startIssuer } from './_issuer.ts'

needsPostgres()

test('a subject works at every node until its permission is revoked at one', async () => {
  await using issuer = await startIssuer()
  await using nodes = await startNodes(['a', 'b'], accepting(issuer))
  const headers = bearer(await issuer.sign({ sub: 'alice' }))
  const urls = nodes.daemons.map(({ url }) => ({ url }))
  const statuses = () =>
    Promise.all(urls.map(async (node) => (await ask(node, 'GET /connections', { headers })).status))
  expect(await statuses()).toEqual([403, 403])

  // Requests at both nodes make one wallet.
  const made = await Promise.all(
    urls.map((node) => ask(node, 'POST /wallets', { headers, body: { name: 'mine' } })),
  )
  expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400])
  const { id: walletId } = made.find(({ status }) => status === 201)!.body as { id: string }
  expect(await statuses()).toEqual([200, 200])

  const [first, second] = urls.map(({ url }) => createClient(url, headers))
  const { connectionId } = await first!('POST /connections', { body: { label: 'bob' } })
  expect((await second!('GET /connections/{connectionId}', { path: { connectionId } })).label).toBe('bob')

  const path = { walletId }
  const admin = adminOf(urls[1]!.url)
  await admin('DELETE /wallets/{walletId}/uma-permissions', { path, query: { subject: 'alice' } })
  expect(await statuses()).toEqual([403, 403])
  await admin('POST /wallets/{walletId}/uma-permissions', { path, body: { subject: 'alice' } })
  expect(await statuses()).toEqual([200, 200])
  const rows = await nodes.read<{ login: string }>(`select login from entry where login is not null`)
  expect(rows).toContainEqual({ login: 'alice' })
})
