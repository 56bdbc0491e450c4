/** Which texts are accepted as DIDs of an answer to a DID request. */
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { findDidFault } from '../../../src/exchange/enterprise/onboarding.ts'
import { newHolder } from './_suite.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { createKeyDid } from '../../../src/did/key.ts'

const key = toPublic(generateKey('Ed25519'))

test.each([
  newHolder(0).did,
  newHolder(2).did,
  'did:peer:1zQmZMygzYqNwU6Uhmewx5Xepf2VLp5S4HLSwwgf2aiKZuwa',
  createKeyDid(key),
  createJwkDid(key),
  'did:web:example.com',
  'did:web:example.com%3A8443:people:alice',
  `did:prism:${'ab'.repeat(32)}`,
  'did:example:123',
  'did:ion:EiClkZMDxPKqC9c-umQfTkR8vvZ9JPhl_xLDI9Nfk38w5w',
  'did:a:%20',
])('%s is accepted', (did) => {
  expect(findDidFault(did)).toBeUndefined()
})

test.each([
  '',
  'did',
  'did:',
  'did:example',
  'did:example:',
  'did:Example:1',
  'DID:example:1',
  'did:example:1#key',
  'did:example:1/path',
  'did:example:1?query',
  'did:example:a b',
  'did:example:é',
  'did:example:%2',
  ' did:example:1',
  'did:example:1\n',
  'did:peer:2.Ez6',
  'did:peer:5z',
  'did:key:zNotAKey',
  'did:jwk:e30',
  'did:web:127.0.0.1',
  'did:web:..',
  'did:prism:ab',
  `did:prism:${'AB'.repeat(32)}`,
  `did:prism:${'ab'.repeat(32)}:CgA`,
  'https://example.com',
])('%j is refused with a reason', (text) => {
  expect(findDidFault(text)).toEqual(expect.stringMatching(/.{10,}/))
})
