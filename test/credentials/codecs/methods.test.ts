/**
 * Issuers and holders with DIDs of every method and keys of every type; DIDs that are temporarily
 * unresolvable.
 */
import { CompactSign, compactVerify, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { toHex, toMultibase, utf8 } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { generateKey, okpBytes, type PrivateJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { compressed } from '../../../src/foundation/crypto/secp256k1.ts'
import { decodeJws, isSignedBy, signJws } from '../../../src/credentials/codecs/jws.ts'
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { createJwtVp } from '../../../src/credentials/codecs/jwt-vp.ts'
import { verifyHolderProof, verifyJwtVc, verifyJwtVp } from './_verify.ts'
import { createPeerDid } from '../../../src/did/peer.ts'
import { toLongForm } from '../../../src/did/prism/did.ts'
import { encodeOperation } from '../../../src/did/prism/operations.ts'
import { createResolver } from '../../../src/did/resolver.ts'
import type { DidDocument } from '../../../src/did/document.ts'
import { audience, content, failureOf, nonce, now } from './_people.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { createKeyDid } from '../../../src/did/key.ts'

const ed25519 = generateKey('Ed25519')
const secp256k1 = generateKey('secp256k1')
const p256 = generateKey('P-256')
const keys = [ed25519, secp256k1, p256]

const documents = new Map<string, DidDocument>()
const resolver = createResolver({
  getState: () => Promise.resolve(undefined),
  findHosted: (did) => Promise.resolve(documents.get(did)),
})
const { document: resolve } = resolver

/** Registers a did:web with one key in a given representation. */
function webDid(name: string, key: Record<string, unknown>): string {
  const did = `did:web:${name}.example`
  const id = '#key-1'
  documents.set(did, {
    id: did,
    verificationMethod: [{ id, controller: did, ...key } as never],
    authentication: [id],
    assertionMethod: [id],
  })
  return did
}

const multikey = (key: PrivateJwk) => createKeyDid(key).slice('did:key:'.length)

function prismDid(key: PrivateJwk): string {
  const publicKeys = [
    { id: 'master0', usage: 'master' as const, publicKey: toPublic(secp256k1) },
    { id: 'auth-1', usage: 'authentication' as const, publicKey: toPublic(key) },
    { id: 'issue-1', usage: 'assertionMethod' as const, publicKey: toPublic(key) },
  ]
  return toLongForm(encodeOperation({ operation: 'create', publicKeys, services: [], contexts: [] }))
}

/** The types of keys in documents, each with a key in its representation. */
const webKeys: [type: string, key: PrivateJwk, representation: object][] = [
  ['JsonWebKey2020', p256, { publicKeyJwk: toPublic(p256) }],
  ['JsonWebKey', ed25519, { publicKeyJwk: toPublic(ed25519) }],
  ['Multikey', secp256k1, { publicKeyMultibase: multikey(secp256k1) }],
  ['Ed25519VerificationKey2020', ed25519, { publicKeyMultibase: multikey(ed25519) }],
  ['Ed25519VerificationKey2018', ed25519, { publicKeyBase58: toMultibase(okpBytes(ed25519)).slice(1) }],
  ['EcdsaSecp256k1VerificationKey2019', secp256k1, { publicKeyHex: toHex(compressed(secp256k1)) }],
]

const signers: [string, string, PrivateJwk][] = [
  ...keys.map((key): [string, string, PrivateJwk] => [`did:jwk, ${key.crv}`, createJwkDid(key), key]),
  ['did:key, Ed25519', createKeyDid(ed25519), ed25519],
  ['did:key, secp256k1', createKeyDid(secp256k1), secp256k1],
  ['did:key, P-256', createKeyDid(p256), p256],
  ['did:prism, Ed25519', prismDid(ed25519), ed25519],
  ['did:prism, secp256k1', prismDid(secp256k1), secp256k1],
  ...webKeys.map(([type, key, representation]): [string, string, PrivateJwk] => [
    `did:web, ${type}`,
    webDid(type.toLowerCase(), { type, ...representation }),
    key,
  ]),
]

const vp = (holderDid: string, holderKey: PrivateJwk, credentials: string[]) =>
  createJwtVp({ holderDid, holderKey, audience, nonce, credentials })

describe.each(signers)('%s', (_, did, key) => {
  const credential = issueJwtVc({ ...content, issuerDid: did, issuerKey: key, subjectDid: did })

  test('can issue and hold', async () => {
    expect((await verifyJwtVc(credential, { resolve, now })).issuerDid).toBe(did)
    const { holderDid, credentials } = await verifyJwtVp(vp(did, key, [credential]), {
      resolve,
      audience,
      nonce,
      now,
    })
    expect([holderDid, credentials[0]!.subjectDid]).toEqual([did, did])
    expect((await verifyHolderProof(vp(did, key, []), { resolve, audience, nonce, now })).holderDid).toBe(did)
  })

  test('refuses another key, of the same or another curve', async () => {
    const others = keys.map((each) => generateKey(each.crv as 'Ed25519'))
    for (const other of others) {
      const reason = other.crv === key.crv ? 'signature' : 'algorithm'
      const forged = issueJwtVc({ ...content, issuerDid: did, issuerKey: other, subjectDid: did })
      expect(await failureOf(() => verifyJwtVc(forged, { resolve, now }))).toBe(reason)
      expect(
        await failureOf(() => verifyJwtVp(vp(did, other, [credential]), { resolve, audience, nonce, now })),
      ).toBe(reason)
    }
  })
})

test('a did:peer can hold but not issue: its key only authenticates', async () => {
  const did = createPeerDid({
    keyAgreement: toPublic(generateKey('X25519')),
    authentication: toPublic(ed25519),
    serviceUri: 'https://a.example',
  })
  expect((await verifyHolderProof(vp(did, ed25519, []), { resolve, audience, nonce, now })).holderDid).toBe(
    did,
  )
  const forged = issueJwtVc({ ...content, issuerDid: did, issuerKey: ed25519 })
  expect(await failureOf(() => verifyJwtVc(forged, { resolve, now }))).toBe('no-key')
})

test('keys for agreement, RSA keys, and keys of another curve than their type are ignored', async () => {
  for (const [name, key] of Object.entries({
    agreement: { type: 'JsonWebKey2020', publicKeyJwk: toPublic(generateKey('X25519')) },
    rsa: { type: 'JsonWebKey2020', publicKeyJwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } },
    mistyped: { type: 'Ed25519VerificationKey2020', publicKeyMultibase: multikey(secp256k1) },
    none: {
      type: 'EcdsaSecp256k1RecoveryMethod2020',
      blockchainAccountId: 'eip155:1:0xab16a96d359ec26a11e2c2b3d8f8b8942d5bfcdb',
    },
  })) {
    const did = webDid(name, key)
    const reason = name === 'agreement' ? 'algorithm' : 'no-key'
    const forged = issueJwtVc({ ...content, issuerDid: did, issuerKey: secp256k1 })
    expect(await failureOf(() => verifyJwtVc(forged, { resolve, now }))).toBe(reason)
  }
})

describe('ES256', () => {
  test('interoperates with jose', async () => {
    const { payload } = await compactVerify(
      signJws({ typ: 'JWT' }, { a: 1 }, p256),
      await importJWK(toPublic(p256), 'ES256'),
    )
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ a: 1 })
    const token = await new CompactSign(utf8('{"a":1}'))
      .setProtectedHeader({ alg: 'ES256' })
      .sign(await importJWK(p256, 'ES256'))
    expect(isSignedBy(decodeJws(token), toPublic(p256))).toBe(true)
    const p256Other = generateKey('P-256')
    expect(isSignedBy(decodeJws(token), toPublic(p256Other))).toBe(false)
    expect(isSignedBy(decodeJws(token), { ...toPublic(p256), crv: 'secp256k1' })).toBe(false)
    expect(isSignedBy(decodeJws(token), { ...toPublic(p256), y: toPublic(p256Other).y! })).toBe(false)
  })

  test('refuses ES256K, and truncated, extended and zero signatures', () => {
    const jws = decodeJws(signJws({}, { a: 1 }, p256))
    expect(isSignedBy({ ...jws, header: { alg: 'ES256K' } }, toPublic(p256))).toBe(false)
    for (const signature of [
      jws.signature.slice(0, 63),
      new Uint8Array(64),
      new Uint8Array(),
      Buffer.concat([jws.signature, Buffer.of(0)]),
    ])
      expect(isSignedBy({ ...jws, signature }, toPublic(p256))).toBe(false)
  })
})

describe('a temporarily unresolvable DID', () => {
  const down = new Problem('error:ServiceUnavailable', 'its host did not answer in time')
  const accident = new Error('disk I/O error')
  const issuer = createJwkDid(ed25519)
  const holder = createKeyDid(secp256k1)
  const credential = issueJwtVc({ ...content, issuerDid: issuer, issuerKey: ed25519, subjectDid: holder })

  test.each([down, accident])('is not a verification failure: %s', async (error) => {
    const without = (missing: string) => (did: string) =>
      did === missing ? Promise.reject(error) : resolve(did)
    await expect(verifyJwtVc(credential, { resolve: without(issuer), now })).rejects.toBe(error)
    for (const missing of [issuer, holder]) {
      const checks = { resolve: without(missing), audience, nonce, now }
      await expect(verifyJwtVp(vp(holder, secp256k1, [credential]), checks)).rejects.toBe(error)
    }
  })

  test('nor is a temporarily unavailable status', async () => {
    const credentialStatus = { type: 'StatusList2021Entry' }
    const token = issueJwtVc({ ...content, issuerDid: issuer, issuerKey: ed25519, credentialStatus })
    await expect(verifyJwtVc(token, { resolve, now, checkStatus: () => Promise.reject(down) })).rejects.toBe(
      down,
    )
    expect(
      await failureOf(() =>
        verifyJwtVc(token, { resolve, now, checkStatus: () => Promise.reject(new Error('revoked')) }),
      ),
    ).toBe('status')
  })
})

test.each([
  [
    'did:web:gone.example is not there',
    'The DID of the issuer could not be resolved: did:web:gone.example is not there',
  ],
  ['it is not there', 'The DID of the issuer, did:web:gone.example, could not be resolved: it is not there'],
])('a reason names the unresolvable DID once: %s', async (reason, message) => {
  const token = issueJwtVc({ ...content, issuerDid: 'did:web:gone.example', issuerKey: ed25519 })
  const gone = () => Promise.reject(new Problem('NotFound', reason))
  await expect(verifyJwtVc(token, { resolve: gone, now })).rejects.toThrow(message)
})
