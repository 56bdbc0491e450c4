/** Which signatures of a challenge are valid. */
import { describe, expect, test } from 'vitest'
import { challengeMethods } from '../../../src/foundation/config/values.ts'
import { toBase64url, toPaddedBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { generateKey, sign, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { toMultikey } from '../../../src/did/multikey.ts'
import { createPeerDid } from '../../../src/did/peer.ts'
import { createResolver } from '../../../src/did/resolver.ts'
import { assertSigned } from '../../../src/exchange/enterprise/signature.ts'
import { newHolder, signed } from './_suite.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { createKeyDid } from '../../../src/did/key.ts'

const nonce = 'authenticate-bmljZQ== é'
const { document: resolve } = createResolver({ getState: () => Promise.resolve(undefined) })

/** Returns the reason for which an answer is invalid, or undefined if it is valid. */
async function getRefusal(
  answer: { did: string; signature: string },
  methods: readonly (typeof challengeMethods)[number][] = ['peer'],
) {
  try {
    await assertSigned({ nonce, ...answer }, { resolve, methods })
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ type: '/errors/authenticate/invalid-challenge-response', status: 400 })
    return (error as Error).message
  }
}

describe('did:peer', () => {
  test.each([0, 2] as const)('numalgo %i: Ed25519 over the UTF-8 bytes of the nonce', async (numalgo) => {
    const holder = newHolder(numalgo)
    expect(await getRefusal(holder.answer(nonce))).toBeUndefined()
    expect(await getRefusal(holder.answer(`${nonce} `))).toMatch(/^signature: it was not made/)
    expect(await getRefusal({ ...holder.answer(nonce), did: newHolder(numalgo).did })).toMatch(/^signature: /)
  })

  test('any of several authentication keys is accepted', async () => {
    const [first, second] = [generateKey('Ed25519'), generateKey('Ed25519')]
    const did = `did:peer:2.V${toMultikey(toPublic(first))}.V${toMultikey(toPublic(second))}`
    expect(await getRefusal({ did, signature: signed(second, nonce) })).toBeUndefined()
  })

  test('keys of another purpose or another curve are refused', async () => {
    const [ed, other, secp] = [generateKey('Ed25519'), generateKey('Ed25519'), generateKey('secp256k1')]
    const asserting = `did:peer:2.A${toMultikey(toPublic(ed))}.V${toMultikey(toPublic(other))}`
    expect(await getRefusal({ did: asserting, signature: signed(ed, nonce) })).toMatch(/^signature: /)
    expect(
      await getRefusal({ did: `did:peer:2.A${toMultikey(toPublic(ed))}`, signature: signed(ed, nonce) }),
    ).toMatch(/no Ed25519 key/)
    expect(
      await getRefusal({ did: `did:peer:0${toMultikey(toPublic(secp))}`, signature: signed(secp, nonce) }),
    ).toMatch(/no Ed25519 key/)
    expect(
      await getRefusal({ did: `did:peer:2.V${toMultikey(toPublic(secp))}`, signature: signed(secp, nonce) }),
    ).toMatch(/no Ed25519 key/)
  })

  test('other numalgos and malformed DIDs are refused', async () => {
    const { key } = newHolder()
    for (const did of [
      'did:peer:1zQmZMygzYqNwU6Uhmewx5Xepf2VLp5S4HLSwwgf2aiKZuwa',
      'did:peer:4zQm',
      'did:peer:3z',
      'did:peer:',
      'did:peer:2',
    ])
      expect(await getRefusal({ did, signature: signed(key, nonce) }), did).toMatch(/^did: /)
  })
})

test('a signature is base64url with or without padding, and nothing else', async () => {
  const { did, key } = newHolder()
  const bytes = sign(key, utf8(nonce))
  const text = toBase64url(bytes)
  expect(await getRefusal({ did, signature: toPaddedBase64url(bytes) })).toBeUndefined()
  // Of the last character of 64 encoded bytes, only four bits count.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const stray = text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1]
  for (const signature of [
    `${text}=`,
    `${text}===`,
    ` ${text}`,
    `${text}\n`,
    `${text}.`,
    stray,
    text.slice(1),
    '',
    `=${text}`,
  ])
    expect(await getRefusal({ did, signature }), JSON.stringify(signature)).toMatch(/^signature: /)
  const standard = Buffer.from(bytes).toString('base64')
  if (/[+/]/.test(standard))
    expect(await getRefusal({ did, signature: standard })).toMatch(/^signature: expected base64url/)
})

describe('other methods require AUTH_DID_METHODS', () => {
  const [ed, secp] = [generateKey('Ed25519'), generateKey('secp256k1')]
  const dids = [
    ['key', createKeyDid(toPublic(ed)), ed],
    ['key', createKeyDid(toPublic(secp)), secp],
    ['jwk', createJwkDid(toPublic(ed)), ed],
    ['jwk', createJwkDid(toPublic(secp)), secp],
  ] as const

  test.each(dids)('did:%s', async (method, did, key) => {
    const answer = { did, signature: signed(key, nonce) }
    expect(await getRefusal(answer)).toBe('did: expected a DID of the method peer')
    expect(await getRefusal(answer, ['peer', method])).toBeUndefined()
    expect(await getRefusal({ ...answer, signature: signed(key, 'another') }, [method])).toMatch(
      /^signature: /,
    )
  })

  test('an answer with a DID that does not resolve is invalid, whatever the reason', async () => {
    const answer = { did: `did:prism:${'a'.repeat(64)}`, signature: signed(ed, nonce) }
    expect(await getRefusal(answer, ['prism'])).toMatch(/^did: it does not resolve\. .*not published/)
    expect(await getRefusal({ ...answer, did: 'did:web:example.com' }, ['web'])).toMatch(
      /^did: it does not resolve/,
    )
    expect(await getRefusal({ ...answer, did: 'did:example:1' }, [...challengeMethods])).toMatch(
      /^did: expected/,
    )
    expect(await getRefusal({ ...answer, did: 'constructor' }, [...challengeMethods])).toMatch(
      /^did: expected/,
    )
  })
})

test('a did:peer with a service is accepted like one without', async () => {
  const [authentication, keyAgreement] = [generateKey('Ed25519'), generateKey('X25519')]
  const did = createPeerDid({
    authentication: toPublic(authentication),
    keyAgreement: toPublic(keyAgreement),
    serviceUri: 'https://example.com',
  })
  expect(await getRefusal({ did, signature: signed(authentication, nonce) })).toBeUndefined()
})
