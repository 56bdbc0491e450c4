import { expect, test } from 'vitest'
import { didOf } from '../../src/did/document.ts'

test('the DID of a DID URL ends where its path, query or fragment begins', () => {
  const did = 'did:example:anna'
  for (const rest of ['', '#key-1', '/path', '?query', '#a/b?c#d', '/\n#a'])
    expect(didOf(did + rest)).toBe(did)
})
