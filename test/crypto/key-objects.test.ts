import { expect, test } from 'vitest'
import { agree, generateKey, toPublic } from '../../src/crypto/keys.ts'
import { isKept } from '../../src/crypto/key-objects.ts'

const ours = generateKey('X25519')
const newKey = () => toPublic(generateKey('X25519'))

test('the object of a key is kept, unless the key only passes', () => {
  const [staying, passing] = [newKey(), newKey()]
  agree(ours, staying)
  agree(ours, passing, { isPassing: true })
  expect([isKept(staying), isKept(passing)]).toEqual([true, false])
})

test('no more than 500 are kept, those that were used last', () => {
  const [used, unused] = [newKey(), newKey()]
  agree(ours, unused)
  for (let n = 0; n < 500; n++) {
    agree(ours, used)
    agree(ours, newKey())
  }
  expect([isKept(used), isKept(unused)]).toEqual([true, false])
})
