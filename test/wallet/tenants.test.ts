/** Entities and keys when two ask at once: one is served, the other is told, and nobody gets a 500. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startAgent } from '../_agent.ts'

const outcome = (settled: PromiseSettledResult<unknown>) =>
  settled.status === 'fulfilled' ? 'done' : (settled.reason as { type?: string }).type

test('of those who make an entity with one id at once, one makes it', async () => {
  await using agent = await startAgent()
  const { tenants } = agent.agent
  const id = randomUUID()
  const all = await Promise.allSettled([1, 2, 3].map((n) => tenants.create({ id, name: `number ${n}` })))
  expect(all.map(outcome)).toEqual([
    'done',
    ...Array<string>(2).fill('error:EntityServiceError:EntityAlreadyExists'),
  ])
})

test('a key that is registered twice at once is the entity’s, or whoever was first', async () => {
  await using agent = await startAgent()
  const { tenants } = agent.agent
  const [one, two] = [await tenants.create({ name: 'one' }), await tenants.create({ name: 'two' })]
  const same = await Promise.allSettled(
    [1, 2, 3].map(() => tenants.keys.register({ entityId: one.id, apiKey: 'key-of-one' })),
  )
  expect(same.map(outcome)).toEqual(['done', 'done', 'done'])
  const both = await Promise.allSettled(
    [one, two].map(({ id }) => tenants.keys.register({ entityId: id, apiKey: 'key-of-both' })),
  )
  expect(both.map(outcome)).toEqual(['done', 'error:AuthenticationRepositoryError:AuthenticationCompromised'])
  expect((await tenants.keys.find('key-of-both'))?.entityId).toBe(one.id)
})

test('a key that is registered while its entity is deleted lets nobody in, now or later', async () => {
  await using agent = await startAgent()
  const { tenants } = agent.agent
  const { id } = await tenants.create({ name: 'one' })
  await Promise.allSettled([tenants.keys.register({ entityId: id, apiKey: 'late-key' }), tenants.delete(id)])
  await tenants.create({ id, name: 'one again' })
  expect(await tenants.keys.find('late-key')).toBeUndefined()
})
