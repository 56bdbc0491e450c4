/** Whose answers to a challenge hold (service §4.7 rule 2, api.md 8.4). */
import { describe, expect, test } from 'vitest'
import { challengeMethods } from '../../src/base/config.ts'
import { toBase64url, toPaddedBase64url, utf8 } from '../../src/base/bytes.ts'
import { generateKey, sign, toPublic } from '../../src/crypto/keys.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { createKeyDid } from '../../src/did/key.ts'
import { toMultikey } from '../../src/did/multikey.ts'
import { createPeerDid } from '../../src/did/peer.ts'
import { createResolver } from '../../src/did/resolver.ts'
import { assertSigned } from '../../src/enterprise/signature.ts'
import { newHolder, signed } from './_suite.ts'

const nonce = 'authenticate-bmljZQ== é'
const { document: resolve } = createResolver({ getState: () => Promise.resolve(undefined) })

/** The reason why an answer does not hold; nothing when it does. */
async function whyNot(
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
  test.each([0, 2] as const)('of numalgo %i, Ed25519, over the UTF-8 bytes of the nonce', async (numalgo) => {
    const holder = newHolder(numalgo)
    expect(await whyNot(holder.answer(nonce))).toBeUndefined()
    expect(await whyNot(holder.answer(`${nonce} `))).toMatch(/^signature: it was not made/)
    expect(await whyNot({ ...holder.answer(nonce), did: newHolder(numalgo).did })).toMatch(/^signature: /)
  })

  test('with several authentication keys: any of them', async () => {
    const [first, second] = [generateKey('Ed25519'), generateKey('Ed25519')]
    const did = `did:peer:2.V${toMultikey(toPublic(first))}.V${toMultikey(toPublic(second))}`
    expect(await whyNot({ did, signature: signed(second, nonce) })).toBeUndefined()
  })

  test('not by a key of another purpose or another curve', async () => {
    const [ed, other, secp] = [generateKey('Ed25519'), generateKey('Ed25519'), generateKey('secp256k1')]
    const asserting = `did:peer:2.A${toMultikey(toPublic(ed))}.V${toMultikey(toPublic(other))}`
    expect(await whyNot({ did: asserting, signature: signed(ed, nonce) })).toMatch(/^signature: /)
    expect(
      await whyNot({ did: `did:peer:2.A${toMultikey(toPublic(ed))}`, signature: signed(ed, nonce) }),
    ).toMatch(/no Ed25519 key/)
    expect(
      await whyNot({ did: `did:peer:0${toMultikey(toPublic(secp))}`, signature: signed(secp, nonce) }),
    ).toMatch(/no Ed25519 key/)
    expect(
      await whyNot({ did: `did:peer:2.V${toMultikey(toPublic(secp))}`, signature: signed(secp, nonce) }),
    ).toMatch(/no Ed25519 key/)
  })

  test('not of another numalgo, and not malformed', async () => {
    const { key } = newHolder()
    for (const did of [
      'did:peer:1zQmZMygzYqNwU6Uhmewx5Xepf2VLp5S4HLSwwgf2aiKZuwa',
      'did:peer:4zQm',
      'did:peer:3z',
      'did:peer:',
      'did:peer:2',
    ])
      expect(await whyNot({ did, signature: signed(key, nonce) }), did).toMatch(/^did: /)
  })
})

test('a signature is base64url with or without padding, and nothing else', async () => {
  const { did, key } = newHolder()
  const bytes = sign(key, utf8(nonce))
  const text = toBase64url(bytes)
  expect(await whyNot({ did, signature: toPaddedBase64url(bytes) })).toBeUndefined()
  // 64 bytes end in a character of which four bits count.
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
    expect(await whyNot({ did, signature }), JSON.stringify(signature)).toMatch(/^signature: /)
  const standard = Buffer.from(bytes).toString('base64')
  if (/[+/]/.test(standard))
    expect(await whyNot({ did, signature: standard })).toMatch(/^signature: expected base64url/)
})

describe('other methods are behind AUTH_DID_METHODS', () => {
  const [ed, secp] = [generateKey('Ed25519'), generateKey('secp256k1')]
  const dids = [
    ['key', createKeyDid(toPublic(ed)), ed],
    ['key', createKeyDid(toPublic(secp)), secp],
    ['jwk', createJwkDid(toPublic(ed)), ed],
    ['jwk', createJwkDid(toPublic(secp)), secp],
  ] as const

  test.each(dids)('did:%s', async (method, did, key) => {
    const answer = { did, signature: signed(key, nonce) }
    expect(await whyNot(answer)).toBe('did: expected a DID of the method peer')
    expect(await whyNot(answer, ['peer', method])).toBeUndefined()
    expect(await whyNot({ ...answer, signature: signed(key, 'another') }, [method])).toMatch(/^signature: /)
  })

  test('a DID that does not resolve, for whatever reason, does not hold', async () => {
    const answer = { did: `did:prism:${'a'.repeat(64)}`, signature: signed(ed, nonce) }
    expect(await whyNot(answer, ['prism'])).toMatch(/^did: it does not resolve\. .*not published/)
    expect(await whyNot({ ...answer, did: 'did:web:example.com' }, ['web'])).toMatch(
      /^did: it does not resolve/,
    )
    expect(await whyNot({ ...answer, did: 'did:example:1' }, [...challengeMethods])).toMatch(/^did: expected/)
    expect(await whyNot({ ...answer, did: 'constructor' }, [...challengeMethods])).toMatch(/^did: expected/)
  })
})

test('a did:peer made with a service is answered for like one without', async () => {
  const [authentication, keyAgreement] = [generateKey('Ed25519'), generateKey('X25519')]
  const did = createPeerDid({
    authentication: toPublic(authentication),
    keyAgreement: toPublic(keyAgreement),
    serviceUri: 'https://example.com',
  })
  expect(await whyNot({ did, signature: signed(authentication, nonce) })).toBeUndefined()
})
