/** The memory of the driver `memory`: its limit, and the entries of a wallet. */
import { expect, test } from 'vitest'
import { createEntryMemory } from '../../../src/did/ledger/entry-memory.ts'

const entry = (walletId: string, length: number) => ({ walletId, content: new Uint8Array(length) })

test('the bytes of all wallets are limited, and a removed or smaller entry makes room', () => {
  const memory = createEntryMemory(10)
  expect(memory.put('a', entry('one', 6))).toBe(true)
  expect(memory.put('b', entry('two', 5))).toBe(false)
  expect(memory.find('b')).toBeUndefined()
  expect(memory.put('a', entry('one', 11))).toBe(false)
  expect(memory.find('a')?.content).toHaveLength(6)
  expect(memory.put('a', entry('one', 5))).toBe(true)
  expect(memory.put('b', entry('two', 5))).toBe(true)
  memory.remove('a')
  memory.remove('a')
  expect(memory.put('c', entry('two', 5))).toBe(true)
  expect([memory.count('one'), memory.count('two')]).toEqual([0, 2])
  memory.removeAll('two')
  expect([memory.count('two'), memory.find('b'), memory.find('c')]).toEqual([0, undefined, undefined])
})
