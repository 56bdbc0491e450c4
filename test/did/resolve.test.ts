import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { generateKey, toPublic } from '../../src/crypto/keys.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { createKeyDid } from '../../src/did/key.ts'
import { createPeerDid } from '../../src/did/peer.ts'
import { toLongForm, toShortForm } from '../../src/did/prism/did.ts'
import { apply, type DidState } from '../../src/did/prism/state.ts'
import { ResolutionResult } from '../../src/did/resolution.ts'
import { createResolver } from '../../src/did/resolve.ts'
import { createBytes, key, later, published, signedDeactivate, updated } from './prism/_make.ts'

const state = published()
const shortForm = toShortForm(state.suffix)
const longForm = toLongForm(createBytes())

/** A resolver over a ledger that is a map. */
function resolverOf(...states: DidState[]) {
  const ledger = new Map(states.map((each) => [each.suffix, each]))
  return { ledger, ...createResolver({ getState: (suffix) => Promise.resolve(ledger.get(suffix)) }) }
}

const peerDid = () =>
  createPeerDid({ keyAgreement: generateKey('X25519'), authentication: generateKey('Ed25519'), serviceUri: 'https://a.example' })

describe('did:prism', () => {
  test('an unpublished long form resolves from its own state', async () => {
    const { didDocument, didDocumentMetadata, didResolutionMetadata } = await resolverOf().resolve(longForm)
    expect(didDocument!.id).toBe(longForm)
    expect(didDocument!.authentication).toEqual([`${longForm}#auth-1`])
    expect(didDocumentMetadata).toEqual({ deactivated: false, versionId: state.suffix })
    expect(didResolutionMetadata).toEqual({ contentType: 'application/did+ld+json' })
  })

  test('an unpublished short form is not found', async () => {
    const resolver = resolverOf()
    expect((await resolver.resolve(shortForm)).didResolutionMetadata.error).toBe('notFound')
    await expect(resolver.document(shortForm)).rejects.toMatchObject({ type: 'error:DIDResolution:notFound', status: 404 })
  })

  test('once published, both forms give the ledger state, also to a resolver that knew the long form before', async () => {
    const resolver = resolverOf()
    await resolver.resolve(longForm)
    resolver.ledger.set(state.suffix, updated(state, { action: 'addKey', key: key('new', 'authentication') }))
    for (const did of [shortForm, longForm]) {
      const { didDocument, didDocumentMetadata } = await resolver.resolve(did)
      expect(didDocument!.id).toBe(did)
      expect(didDocument!.authentication).toEqual([`${did}#auth-1`, `${did}#new`])
      expect(didDocumentMetadata).toMatchObject({ canonicalId: shortForm, deactivated: false })
    }
  })

  test('a deactivated one has metadata and no document', async () => {
    const resolver = resolverOf(apply(state, signedDeactivate(state), later))
    for (const did of [shortForm, longForm]) {
      const result = await resolver.resolve(did)
      expect(result.didDocument).toBeUndefined()
      expect(result.didDocumentMetadata.deactivated).toBe(true)
      expect(result.didResolutionMetadata.error).toBe('deactivated')
      await expect(resolver.document(did)).rejects.toMatchObject({ type: 'error:DIDResolution:deactivated', status: 410 })
    }
  })

  test('a long form whose state is not its suffix never reaches the ledger', async () => {
    const asked: string[] = []
    const { resolve } = createResolver({ getState: (suffix) => Promise.resolve(asked.push(suffix)).then(() => undefined) })
    const forged = `${toShortForm('0'.repeat(64))}:${longForm.split(':')[3]}`
    expect((await resolve(forged)).didResolutionMetadata.error).toBe('invalidDid')
    expect(asked).toEqual([])
  })

  test('a ledger that fails is not a DID that is missing', async () => {
    const { resolve } = createResolver({ getState: () => Promise.reject(new Error('disk I/O error')) })
    await expect(resolve(longForm)).rejects.toThrow('disk I/O error')
  })
})

describe('other methods', () => {
  test('peer, key and jwk resolve, and every answer has the published shape', async () => {
    const { resolve, document } = resolverOf()
    for (const did of [peerDid(), createKeyDid(generateKey('Ed25519')), createJwkDid(toPublic(generateKey('secp256k1'))), longForm]) {
      const result = await resolve(did)
      expect(result.didDocument!.id).toBe(did)
      expect(ResolutionResult.parse(result)).toEqual(result)
      expect(await document(did)).toEqual(result.didDocument)
    }
  })

  test('a method that is handed in resolves, and its problems are answers', async () => {
    const web = (did: string) =>
      did.endsWith('gone') ? Promise.reject(new Problem('error:DIDResolution:notFound', 'gone')) : Promise.resolve({ id: did })
    const { resolve } = createResolver({ getState: () => Promise.resolve(undefined), methods: { web } })
    expect((await resolve('did:web:a.example')).didDocument).toEqual({ id: 'did:web:a.example' })
    expect((await resolve('did:web:gone')).didResolutionMetadata).toEqual({ error: 'notFound', message: 'gone' })
  })

  test.each([
    ['did:web:a.example', 'methodNotSupported'],
    ['did:constructor:1', 'methodNotSupported'],
    ['did:peer:3zQmS19jtYDvGtKVrJhQnRFpBQAx3pJ9omx2HpNrcXFuRCz9', 'methodNotSupported'],
    ['did:peer:2', 'invalidDid'],
    ['did:key:z6Mk', 'invalidDid'],
    ['did:jwk:e30', 'invalidDid'],
    ['did:prism:1', 'invalidDid'],
    ['did:PRISM:1', 'invalidDid'],
    ['did::1', 'invalidDid'],
    ['https://a.example', 'invalidDid'],
    ['', 'invalidDid'],
  ])('%j is answered with %s', async (did, error) => {
    const { resolve, document } = resolverOf()
    const result = await resolve(did)
    expect(result.didDocument).toBeUndefined()
    expect(result.didResolutionMetadata.error).toBe(error)
    expect(result.didResolutionMetadata.message).toBeTruthy()
    await expect(document(did)).rejects.toMatchObject({ type: `error:DIDResolution:${error}` })
  })
})

describe('whatever comes', () => {
  const { resolve } = resolverOf()
  const good = [peerDid(), createKeyDid(generateKey('Ed25519')), createJwkDid(generateKey('secp256k1')), longForm]

  test('a DID with anything put into it is an answer, never an accident', async () => {
    const spoiled = fc.tuple(fc.constantFrom(...good), fc.nat(400), fc.nat(8), fc.string({ maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(spoiled, async ([did, at, removed, put]) => {
        const result = await resolve(did.slice(0, at) + put + did.slice(at + removed))
        expect(result.didDocument === undefined).toBe(result.didResolutionMetadata.error !== undefined)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test('any text is an answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(fc.constantFrom('', 'did:', 'did:peer:2.', 'did:peer:4z', 'did:key:z', 'did:jwk:', 'did:prism:'), fc.string()),
        async ([start, rest]) => {
          expect(ResolutionResult.safeParse(await resolve(start + rest)).success).toBe(true)
        },
      ),
      { seed: 2, numRuns: 500 },
    )
  })
})

describe('what is kept', () => {
  test('is the same document every time, and nobody can change it', async () => {
    const { document } = resolverOf()
    const did = peerDid()
    const first = await document(did)
    expect(await document(did)).toBe(first)
    expect(() => first.verificationMethod!.pop()).toThrow(TypeError)
    expect(() => Object.assign(first.verificationMethod![0]!.publicKeyJwk!, { x: 'AAAA' })).toThrow(TypeError)
  })

  test('is bounded, and what was asked for last stays longest', async () => {
    const { document } = resolverOf()
    const [kept, dropped] = [peerDid(), peerDid()]
    const [first, second] = [await document(kept), await document(dropped)]
    for (let i = 0; i < 1_100; i++) {
      await document(
        `did:jwk:${Buffer.from(JSON.stringify({ kty: 'OKP', crv: 'X25519', x: Buffer.alloc(32, `${i}`).toString('base64url') })).toString('base64url')}`,
      )
      if (i % 500 === 0) expect(await document(kept)).toBe(first)
    }
    expect(await document(kept)).toBe(first)
    expect(await document(dropped)).not.toBe(second)
    expect(await document(dropped)).toEqual(second)
  })
})
