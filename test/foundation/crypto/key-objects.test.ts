import { expect, test } from 'vitest'
import { agree, generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { isKept, publicObject } from '../../../src/foundation/crypto/key-objects.ts'

const own = generateKey('X25519')
const newKey = () => toPublic(generateKey('X25519'))

test('the object of a key is cached, unless the key is ephemeral', () => {
  const [staying, passing] = [newKey(), newKey()]
  agree(own, staying)
  agree(own, passing, { isPassing: true })
  expect([isKept(staying), isKept(passing)]).toEqual([true, false])
})

test('the 500 most recently used objects are cached', () => {
  const [used, unused] = [newKey(), newKey()]
  publicObject(unused)
  for (let n = 0; n < 500; n++) {
    publicObject(used)
    publicObject(newKey())
  }
  expect([isKept(used), isKept(unused)]).toEqual([true, false])
})

test('a shared secret is the same every time, also after the caller cleared its copy', () => {
  const other = generateKey('X25519')
  const first = Buffer.from(agree(own, toPublic(other)))
  agree(own, toPublic(other)).fill(0)
  expect(agree(own, toPublic(other))).toEqual(new Uint8Array(first))
  expect(Buffer.from(agree(other, toPublic(own)))).toEqual(first)
  expect(Buffer.from(agree(own, toPublic(other), { isPassing: true }))).toEqual(first)
  expect(Buffer.from(agree(own, newKey()))).not.toEqual(first)
})
