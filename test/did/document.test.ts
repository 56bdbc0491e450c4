/** The keys of a document, which are remembered where it cannot change. */
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/crypto/keys.ts'
import { type DidDocument, didOf, keysFor } from '../../src/did/document.ts'
import { freeze } from '../../src/did/freeze.ts'

const id = 'did:example:anna'
const write = (...fragments: string[]): DidDocument => ({
  id,
  verificationMethod: fragments.map((fragment) => ({
    id: `${id}#${fragment}`,
    type: 'JsonWebKey2020',
    controller: id,
    publicKeyJwk: toPublic(generateKey('Ed25519')),
  })),
  authentication: fragments.map((fragment) => `#${fragment}`),
})
const idsOf = (document: DidDocument) => keysFor(document, 'authentication').map((key) => key.id)

test('keys of a document that is frozen are read once, for each purpose', () => {
  const document = freeze(write('a', 'b'))
  const keys = keysFor(document, 'authentication')
  expect(keys.map((key) => key.id)).toEqual([`${id}#a`, `${id}#b`])
  expect(keysFor(document, 'assertionMethod')).toEqual([])
  expect(keysFor(document, 'authentication')).toBe(keys)
  expect(Object.isFrozen(keys) && Object.isFrozen(keys[0])).toBe(true)
})

test('keys of a document that may change are read anew, also when it is frozen at its top only', () => {
  for (const document of [write('a'), Object.freeze(write('a'))]) {
    expect(idsOf(document)).toEqual([`${id}#a`])
    document.authentication!.pop()
    expect(idsOf(document)).toEqual([])
  }
})

test('the DID of a DID URL ends where its path, query or fragment begins', () => {
  for (const rest of ['', '#key-1', '/path', '?query', '#a/b?c#d', '/\n#a']) expect(didOf(id + rest)).toBe(id)
})
