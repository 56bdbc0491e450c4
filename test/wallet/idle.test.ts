import { expect, test } from 'vitest'
import { becomesIdle, type Used } from '../../src/wallet/idle.ts'

test('all that wait are told, for example two that close the wallets of lost shards', async () => {
  const entry: Used = { users: 1 }
  const told: string[] = []
  const waiting = ['first', 'second'].map(async (name) => {
    await becomesIdle(entry)
    told.push(name)
  })
  entry.users = 0
  entry.onIdle?.()
  await Promise.all(waiting)
  await becomesIdle(entry)
  expect(told.toSorted()).toEqual(['first', 'second'])
})
