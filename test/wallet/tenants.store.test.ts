/** Concurrent changes of entities and keys: one succeeds, the other is refused, and none is a 500. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { sharedAgent } from '../support/agent.ts'

const outcome = (settled: PromiseSettledResult<unknown>) =>
  settled.status === 'fulfilled' ? 'done' : (settled.reason as { type?: string }).type

test('of concurrent creations of one entity id, one succeeds', async () => {
  const agent = await sharedAgent()
  const { tenants } = agent.agent
  const id = randomUUID()
  const all = await Promise.allSettled([1, 2, 3].map((n) => tenants.create({ id, name: `number ${n}` })))
  const outcomes = all.map(outcome)
  const refused = outcomes.filter((is) => is === 'error:EntityServiceError:EntityAlreadyExists')
  expect([outcomes.length - refused.length, refused.length]).toEqual([1, 2])
  expect(outcomes).toContain('done')
})

test('of concurrent registrations of one key, one entity gets it', async () => {
  const agent = await sharedAgent()
  const { tenants } = agent.agent
  const [one, two] = [await tenants.create({ name: 'one' }), await tenants.create({ name: 'two' })]
  const same = await Promise.allSettled(
    [1, 2, 3].map(() => tenants.keys.register({ entityId: one.id, apiKey: 'key-of-one' })),
  )
  expect(same.map(outcome)).toEqual(['done', 'done', 'done'])
  const both = await Promise.allSettled(
    [one, two].map(({ id }) => tenants.keys.register({ entityId: id, apiKey: 'key-of-both' })),
  )
  const outcomes = both.map(outcome)
  expect(new Set(outcomes)).toEqual(
    new Set(['done', 'error:AuthenticationRepositoryError:AuthenticationCompromised']),
  )
  const winner = [one, two][outcomes.indexOf('done')]!
  expect((await tenants.keys.find('key-of-both'))?.entityId).toBe(winner.id)
})

test('a key that is registered while its entity is deleted never authenticates', async () => {
  const agent = await sharedAgent()
  const { tenants } = agent.agent
  const { id } = await tenants.create({ name: 'one' })
  await Promise.allSettled([tenants.keys.register({ entityId: id, apiKey: 'late-key' }), tenants.delete(id)])
  await tenants.create({ id, name: 'one again' })
  expect(await tenants.keys.find('late-key')).toBeUndefined()
})
