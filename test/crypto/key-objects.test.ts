import { expect, test } from 'vitest'
import { agree, generateKey, toPublic } from '../../src/crypto/keys.ts'
import { isKept, publicObject } from '../../src/crypto/key-objects.ts'

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
  publicObject(unused)
  for (let n = 0; n < 500; n++) {
    publicObject(used)
    publicObject(newKey())
  }
  expect([isKept(used), isKept(unused)]).toEqual([true, false])
})

test('what two keys agree on is the same every time, whatever became of it before', () => {
  const theirs = generateKey('X25519')
  const first = Buffer.from(agree(ours, toPublic(theirs)))
  agree(ours, toPublic(theirs)).fill(0)
  expect(agree(ours, toPublic(theirs))).toEqual(new Uint8Array(first))
  expect(Buffer.from(agree(theirs, toPublic(ours)))).toEqual(first)
  expect(Buffer.from(agree(ours, toPublic(theirs), { isPassing: true }))).toEqual(first)
  expect(Buffer.from(agree(ours, newKey()))).not.toEqual(first)
})
