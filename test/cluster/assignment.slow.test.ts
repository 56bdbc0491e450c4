/** How nodes share the 256 shards. */
import { expect, test } from 'vitest'
import { planChange, type Member, type Shard } from '../../src/cluster/assignment.ts'

const member = (id: string, isDraining = false): Member => ({ id, isDraining })

/** Nodes take and release by turns until nothing changes. @returns the number of shards of each node */
function settle(members: Member[], owners: (string | undefined)[]): Record<string, number> {
  const shards: Shard[] = owners.map((owner, id) => ({ id, owner }))
  for (let changes = 1; changes > 0;) {
    changes = 0
    for (const { id } of members) {
      const { take, releaseCount } = planChange(id, members, shards)
      for (const shard of take) shards[shard]!.owner = id
      for (const shard of shards.filter(({ owner }) => owner === id).slice(0, releaseCount))
        shard.owner = undefined
      changes += take.length + releaseCount
    }
  }
  return Object.fromEntries(members.map(({ id }) => [id, shards.filter(({ owner }) => owner === id).length]))
}

const nobody = Array.from({ length: 256 }, () => undefined)

test('each node gets an equal share, and the first ones the rest', () => {
  expect(settle([member('a')], nobody)).toEqual({ a: 256 })
  expect(settle([member('a'), member('b'), member('c')], nobody)).toEqual({ a: 86, b: 85, c: 85 })
})

test('a new node gets shards of the others, and the shards of a node that has ended are shared', () => {
  const two = Array.from({ length: 256 }, (_, id) => (id < 128 ? 'a' : 'b'))
  expect(settle([member('a'), member('b'), member('c')], two)).toEqual({ a: 86, b: 85, c: 85 })
  expect(
    settle(
      [member('b')],
      two.map((owner) => (owner === 'a' ? undefined : owner)),
    ),
  ).toEqual({ b: 256 })
})

test('a node that drains gives up all shards if another one remains', () => {
  const two = Array.from({ length: 256 }, (_, id) => (id < 128 ? 'a' : 'b'))
  expect(settle([member('a', true), member('b')], two)).toEqual({ a: 0, b: 256 })
  expect(settle([member('a', true)], nobody)).toEqual({ a: 256 })
})

test('with more nodes than shards, some have none', () => {
  const many = Array.from({ length: 300 }, (_, index) => member(String(index).padStart(3, '0')))
  const shares = Object.values(settle(many, nobody))
  expect(shares.filter((share) => share === 1)).toHaveLength(256)
})

test('nodes that take shards at the same time begin at different ones', () => {
  const members = [member('a'), member('b')]
  const free: Shard[] = nobody.map((owner, id) => ({ id, owner }))
  const [first, second] = members.map(({ id }) => planChange(id, members, free).take)
  expect(first!.filter((shard) => second!.includes(shard))).toEqual([])
})
