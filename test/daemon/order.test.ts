/** Ordering of lists, and filters of records by role and state. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../support/agent.ts'

test('order=desc reverses a list, page by page', async () => {
  const agent = await sharedAgent()
  const { call } = await agent.newTenant()
  const made: string[] = []
  for (const label of ['one', 'two', 'three'])
    made.push((await call('POST /connections', { body: { label } })).connectionId)
  const list = async (query: object) => await call('GET /connections', { query })
  const ids = async (query: object) => (await list(query)).contents.map(({ connectionId }) => connectionId)
  expect(await ids({})).toEqual(made)
  expect(await ids({ order: 'asc' })).toEqual(made)
  expect(await ids({ order: 'desc' })).toEqual(made.toReversed())
  const first = await list({ order: 'desc', limit: 2 })
  expect(first.next).toBe('/connections?order=desc&limit=2&offset=2')
  expect(await ids({ order: 'desc', limit: 2, offset: 2 })).toEqual([made[0]])
  await expect(list({ order: 'up' })).rejects.toMatchObject({
    problem: { status: 400, detail: expect.stringContaining('order') },
  })

  const policies: string[] = []
  for (const name of ['a', 'b'])
    policies.push(
      (await call('POST /verification/policies', { body: { name, description: '', constraints: [] } })).id,
    )
  const { contents } = await call('GET /verification/policies', { query: { order: 'desc' } })
  expect(contents.map(({ id }) => id)).toEqual(policies.toReversed())
  for (let count = 0; count < 2; count++)
    await call('POST /events/webhooks', { body: { url: `http://127.0.0.1:9/${count}` } })
  expect(
    (await call('GET /events/webhooks', { query: { order: 'desc' } })).contents.map(({ url }) =>
      url.slice(-1),
    ),
  ).toEqual(['1', '0'])
})

test('records are listed by role and state', async () => {
  const agent = await sharedAgent()
  const { call } = await agent.newTenant()
  const { connectionId, invitation } = await call('POST /connections', { body: {} })
  await call('POST /connections', { body: {} })
  const accepted = await agent.tenant('POST /connection-invitations', {
    body: { invitation: invitation.invitationUrl },
  })
  expect(accepted.role).toBe('Invitee')
  await expect
    .poll(
      async () => (await call('GET /connections', { query: { state: 'ConnectionResponseSent' } })).contents,
    )
    .toMatchObject([{ connectionId }])
  expect((await call('GET /connections', { query: { state: 'InvitationGenerated' } })).contents).toHaveLength(
    1,
  )
  expect((await call('GET /connections', { query: { role: 'Inviter' } })).contents).toHaveLength(2)
  expect((await call('GET /connections', { query: { role: 'Invitee' } })).contents).toEqual([])
})
