import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/foundation/problem.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import type { DidDocument } from '../../src/did/document.ts'
import { createPeerDid } from '../../src/did/peer.ts'
import { toLongForm, toShortForm } from '../../src/did/prism/did.ts'
import { apply, type DidState } from '../../src/did/prism/state.ts'
import { ResolutionResult } from '../../src/did/resolution.ts'
import { createResolver } from '../../src/did/resolver.ts'
import { createBytes, key, later, published, signedDeactivate, updated } from './prism/_make.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { createKeyDid } from '../../src/did/key.ts'

const state = published()
const shortForm = toShortForm(state.suffix)
const longForm = toLongForm(createBytes())

/** A resolver with a map as ledger. */
function resolverOf(...states: DidState[]) {
  const ledger = new Map(states.map((each) => [each.suffix, each]))
  return { ledger, ...createResolver({ getState: (suffix) => Promise.resolve(ledger.get(suffix)) }) }
}

const peerDid = () =>
  createPeerDid({
    keyAgreement: generateKey('X25519'),
    authentication: generateKey('Ed25519'),
    serviceUri: 'https://a.example',
  })

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
    await expect(resolver.document(shortForm)).rejects.toMatchObject({
      type: 'error:DIDResolution:notFound',
      status: 404,
    })
  })

  test('once published, both forms resolve to the ledger state, even if the long form was resolved before', async () => {
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

  test('a deactivated DID has metadata and no document', async () => {
    const resolver = resolverOf(apply(state, signedDeactivate(state), later))
    for (const did of [shortForm, longForm]) {
      const result = await resolver.resolve(did)
      expect(result.didDocument).toBeUndefined()
      expect(result.didDocumentMetadata.deactivated).toBe(true)
      expect(result.didResolutionMetadata.error).toBe('deactivated')
      await expect(resolver.document(did)).rejects.toMatchObject({
        type: 'error:DIDResolution:deactivated',
        status: 410,
      })
    }
  })

  test('a long form whose state does not match its suffix is refused without the ledger', async () => {
    const asked: string[] = []
    const { resolve } = createResolver({
      getState: (suffix) => Promise.resolve(asked.push(suffix)).then(() => undefined),
    })
    const forged = `${toShortForm('0'.repeat(64))}:${longForm.split(':')[3]}`
    expect((await resolve(forged)).didResolutionMetadata.error).toBe('invalidDid')
    expect(asked).toEqual([])
  })

  test('a failing ledger does not mean that the DID is missing', async () => {
    const { resolve } = createResolver({ getState: () => Promise.reject(new Error('disk I/O error')) })
    await expect(resolve(longForm)).rejects.toThrow('disk I/O error')
  })
})

describe('other methods', () => {
  test('peer, key and jwk resolve, and every result has the specified form', async () => {
    const { resolve, document } = resolverOf()
    for (const did of [
      peerDid(),
      createKeyDid(generateKey('Ed25519')),
      createJwkDid(toPublic(generateKey('secp256k1'))),
      longForm,
    ]) {
      const result = await resolve(did)
      expect(result.didDocument!.id).toBe(did)
      expect(ResolutionResult.parse(result)).toEqual(result)
      expect(await document(did)).toEqual(result.didDocument)
    }
  })

  test('a DID of this host resolves, and its problems are results', async () => {
    const web = (did: string) =>
      did.endsWith('gone')
        ? Promise.reject(new Problem('error:DIDResolution:notFound', 'gone'))
        : Promise.resolve({ id: did })
    const { resolve } = createResolver({ getState: () => Promise.resolve(undefined), findHosted: web })
    expect((await resolve('did:web:a.example')).didDocument).toEqual({ id: 'did:web:a.example' })
    expect((await resolve('did:web:gone')).didResolutionMetadata).toEqual({
      error: 'notFound',
      message: 'gone',
    })
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
    ['did:example:1', 'methodNotSupported'],
    ['did:example:a b', 'invalidDid'],
    ['did:example:', 'invalidDid'],
    ['did:example:1#key-1', 'invalidDid'],
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

describe('any input', () => {
  const { resolve } = resolverOf()
  const good = [
    peerDid(),
    createKeyDid(generateKey('Ed25519')),
    createJwkDid(generateKey('secp256k1')),
    longForm,
  ]

  test('a DID with inserted text gets a result, not an exception', async () => {
    const spoiled = fc.tuple(fc.constantFrom(...good), fc.nat(400), fc.nat(8), fc.string({ maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(spoiled, async ([did, at, removed, put]) => {
        const result = await resolve(did.slice(0, at) + put + did.slice(at + removed))
        expect(result.didDocument === undefined).toBe(result.didResolutionMetadata.error !== undefined)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test('any text gets a result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(
          fc.constantFrom('', 'did:', 'did:peer:2.', 'did:peer:4z', 'did:key:z', 'did:jwk:', 'did:prism:'),
          fc.string(),
        ),
        async ([start, rest]) => {
          expect(ResolutionResult.safeParse(await resolve(start + rest)).success).toBe(true)
        },
      ),
      { seed: 2, numRuns: 500 },
    )
  })
})

describe('the cache of external results', () => {
  const web = 'did:web:a.example'
  const documentOf = (did: string) => ({ id: did, service: [] })

  /**
   * A resolver whose web and ledger are controlled by the test: their answers, the number of requests, and
   * the time.
   */
  function startOthers(lifetimes: { documentLifetimeMs?: number; stateLifetimeMs?: number }) {
    const others = {
      clock: 1,
      asked: [] as string[],
      answer: async (did: string): Promise<DidDocument> => documentOf(did),
      state: async (): Promise<DidState | undefined> => state,
    }
    const resolver = createResolver({
      ...lifetimes,
      now: () => others.clock,
      getState: async (suffix) => (others.asked.push(suffix), others.state()),
      findHosted: async (did) => (others.asked.push(did), others.answer(did)),
    })
    return Object.assign(others, resolver)
  }
  const fails = (error: Error) => () => Promise.reject(error)
  const gone = new Problem('error:DIDResolution:notFound', 'gone')
  const down = new Problem('error:ServiceUnavailable', 'down')

  test('a document is cached for its lifetime, frozen', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    const first = await others.document(web)
    others.clock += 60_000
    expect(await others.document(web)).toBe(first)
    expect(() => first.service!.push()).toThrow(TypeError)
    others.clock += 1
    expect(await others.document(web)).not.toBe(first)
    expect(others.asked).toEqual([web, web])
  })

  test('a state is cached by suffix, for both forms', async () => {
    const others = startOthers({ stateLifetimeMs: 60_000 })
    for (const did of [shortForm, longForm, shortForm])
      expect((await others.resolve(did)).didDocument!.id).toBe(did)
    expect(others.asked).toEqual([state.suffix])
    others.clock += 60_001
    others.state = async () => apply(state, signedDeactivate(state), later)
    expect((await others.resolve(longForm)).didResolutionMetadata.error).toBe('deactivated')
  })

  test('without a cache lifetime every resolution reads the ledger', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    await Promise.all(Array.from({ length: 10 }, () => others.resolve(shortForm)))
    expect(others.asked).toHaveLength(10)
  })

  test.each([{}, { documentLifetimeMs: 0, stateLifetimeMs: 0 }])(
    'with %j nothing is kept, failures neither',
    async (lifetimes) => {
      const others = startOthers(lifetimes)
      await others.resolve(web)
      others.answer = fails(gone)
      expect((await others.resolve(web)).didResolutionMetadata.error).toBe('notFound')
      others.answer = async (did) => documentOf(did)
      expect((await others.resolve(web)).didDocument).toBeDefined()
      for (let i = 0; i < 2; i++) await others.resolve(shortForm)
      expect(others.asked).toEqual(
        [web, web, web, shortForm, shortForm].map((did) => did.replace('did:prism:', '')),
      )
    },
  )

  test('a missing DID is cached for five seconds', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000, stateLifetimeMs: 60_000 })
    others.answer = fails(gone)
    others.state = async () => undefined
    for (const passed of [0, 5_000, 1]) {
      others.clock += passed
      expect((await others.resolve(web)).didResolutionMetadata).toEqual({
        error: 'notFound',
        message: 'gone',
      })
      expect((await others.resolve(shortForm)).didResolutionMetadata.error).toBe('notFound')
      expect((await others.resolve(longForm)).didDocument).toBeDefined()
    }
    expect(others.asked).toHaveLength(4)
  })

  test('a malformed DID is not cached', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    others.answer = fails(new Problem('error:DIDResolution:invalidDid', 'malformed'))
    for (let i = 0; i < 2; i++)
      expect((await others.resolve(web)).didResolutionMetadata.error).toBe('invalidDid')
    expect(others.asked).toHaveLength(2)
  })

  test('a temporary failure is cached for one second', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000, stateLifetimeMs: 60_000 })
    others.answer = others.state = fails(down)
    for (const passed of [0, 1_000]) {
      others.clock += passed
      for (const did of [web, shortForm, longForm]) {
        await expect(others.resolve(did)).rejects.toBe(down)
        await expect(others.document(did)).rejects.toBe(down)
      }
    }
    expect(others.asked).toHaveLength(2)
    others.answer = async (did) => documentOf(did)
    others.state = async () => state
    others.clock += 1
    for (const did of [web, shortForm]) expect((await others.resolve(did)).didDocument).toBeDefined()
  })

  test('an unexpected error is not cached, thrown or rejected', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    const accident = new Error('out of memory')
    others.answer = fails(accident)
    await expect(others.resolve(web)).rejects.toBe(accident)
    others.answer = () => {
      throw accident
    }
    await expect(others.resolve(web)).rejects.toBe(accident)
    others.answer = async (did) => documentOf(did)
    expect((await others.resolve(web)).didDocument).toBeDefined()
  })

  test.each([60_000, 0])(
    'a hundred concurrent requests share one fetch, with a lifetime of %i',
    async (lifetimeMs) => {
      const others = startOthers({ documentLifetimeMs: lifetimeMs, stateLifetimeMs: lifetimeMs })
      const hundred = (did: string) => Promise.all(Array.from({ length: 100 }, () => others.document(did)))
      expect(new Set(await hundred(web)).size).toBe(1)
      await hundred(shortForm)
      expect(others.asked).toEqual([web, state.suffix])
      others.answer = fails(down)
      others.invalidate(web)
      const refused = await Promise.allSettled(Array.from({ length: 100 }, () => others.document(web)))
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['rejected']))
      expect(others.asked).toHaveLength(3)
    },
  )

  test('an invalidated DID is fetched again, in every form, also during a fetch', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000, stateLifetimeMs: 60_000 })
    for (const name of [shortForm, longForm, state.suffix]) {
      await others.resolve(shortForm)
      others.invalidate(name)
    }
    expect(others.asked).toHaveLength(3)

    let release = () => {}
    const old = new Promise<void>((resolve) => (release = resolve))
    others.state = () => old.then(() => state)
    const waiting = others.resolve(shortForm)
    await Promise.resolve()
    others.invalidate(shortForm)
    others.state = async () => updated(state, { action: 'addKey', key: key('new', 'authentication') })
    expect((await others.resolve(shortForm)).didDocument!.authentication).toHaveLength(2)
    release()
    expect((await waiting).didDocument!.authentication).toHaveLength(1)
    expect((await others.resolve(shortForm)).didDocument!.authentication).toHaveLength(2)
    expect(others.asked).toHaveLength(5)
  })

  test('invalidating an unknown DID has no effect', () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    for (const name of [web, shortForm, peerDid(), 'did:example:1', '', 'junk', 'did:prism:'])
      others.invalidate(name)
    expect(others.asked).toEqual([])
  })

  test('is limited in number and size', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    const small = Array.from({ length: 10_001 }, (_, i) => `did:web:small.example:${i}`)
    for (const did of small) await others.document(did)
    await others.document(small[10_000]!)
    expect(others.asked).toHaveLength(10_001)
    await others.document(small[0]!)
    expect(others.asked).toHaveLength(10_002)

    others.answer = async (did) => ({ id: did, padding: 'x'.repeat(1_000_000) })
    const large = Array.from({ length: 40 }, (_, i) => `did:web:large.example:${i}`)
    for (const did of large) await others.document(did)
    others.asked.length = 0
    await others.document(large[39]!)
    await others.document(large[0]!)
    expect(others.asked).toEqual([large[0]])
  })

  test('more than a thousand concurrent fetches are refused', async () => {
    const others = startOthers({ documentLifetimeMs: 60_000 })
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    others.answer = (did) => held.then(() => documentOf(did))
    const asked = Array.from({ length: 1_000 }, (_, i) => others.document(`did:web:slow.example:${i}`))
    await expect(others.document(web)).rejects.toMatchObject({ type: 'error:ServiceUnavailable' })
    release()
    await Promise.all(asked)
    expect((await others.document(web)).id).toBe(web)
  })
})

describe('the cache of immutable documents', () => {
  test('is the same frozen document every time', async () => {
    const { document } = resolverOf()
    const did = peerDid()
    const first = await document(did)
    expect(await document(did)).toBe(first)
    expect(() => first.verificationMethod!.pop()).toThrow(TypeError)
    expect(() => Object.assign(first.verificationMethod![0]!.publicKeyJwk!, { x: 'AAAA' })).toThrow(TypeError)
  })

  test('is limited, and evicts the least recently used document', async () => {
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
