import { describe, expect, test } from 'vitest'
import { DidDocument, keysFor } from '../../../src/did/document.ts'
import { toLongForm, toShortForm } from '../../../src/did/prism/did.ts'
import { toDocument, toMetadata } from '../../../src/did/prism/document.ts'
import { fromPrismService, toPrismService } from '../../../src/did/prism/service.ts'
import { createState } from '../../../src/did/prism/state.ts'
import { create, createBytes, ed25519, key, later, masterKey, published, updated, x25519 } from './_make.ts'

const state = published()
const shortForm = toShortForm(state.suffix)
const longForm = toLongForm(createBytes())

describe('the document of a did:prism', () => {
  test('has the same members as the Cloud Agent’s', () => {
    const { publicKey } = key('auth-1', 'authentication')
    expect(toDocument(state, shortForm)).toEqual({
      '@context': [
        'https://www.w3.org/ns/did/v1',
        'https://w3id.org/security/suites/jws-2020/v1',
        'https://identity.foundation/.well-known/did-configuration/v1',
      ],
      id: shortForm,
      controller: shortForm,
      verificationMethod: [
        { id: `${shortForm}#auth-1`, type: 'JsonWebKey2020', controller: shortForm, publicKeyJwk: publicKey },
      ],
      authentication: [`${shortForm}#auth-1`],
      assertionMethod: [],
      keyAgreement: [],
      capabilityInvocation: [],
      capabilityDelegation: [],
      service: [
        { id: `${shortForm}#service-1`, type: 'LinkedDomains', serviceEndpoint: 'https://example.com/' },
      ],
    })
    expect(Object.keys(publicKey)).toEqual(['kty', 'crv', 'x', 'y'])
  })

  test('uses the requested form of the DID in every id', () => {
    const text = JSON.stringify(toDocument(state, longForm))
    expect(text).toContain(`${longForm}#auth-1`)
    expect(text).not.toMatch(new RegExp(`${shortForm}(?!:)`))
  })

  test('contains keys of every purpose, and no master, revocation or VDR key', () => {
    const publicKeys = [
      key('a', 'authentication'),
      key('i', 'assertionMethod'),
      { id: 'e', usage: 'assertionMethod' as const, publicKey: ed25519 },
      { id: 'x', usage: 'keyAgreement' as const, publicKey: x25519 },
      key('ci', 'capabilityInvocation'),
      key('cd', 'capabilityDelegation'),
      key('hidden-r', 'revocation'),
      key('hidden-v', 'vdr'),
      { ...masterKey, id: 'hidden-m' },
      masterKey,
    ]
    const document = toDocument(published({ publicKeys }), shortForm)
    expect(document.verificationMethod!.map(({ id }) => id.split('#')[1])).toEqual([
      'a',
      'i',
      'e',
      'x',
      'ci',
      'cd',
    ])
    expect(JSON.stringify(document)).not.toMatch(/hidden|master0/)
    expect(JSON.stringify(document)).not.toContain(masterKey.publicKey.x)
    expect(keysFor(document, 'assertionMethod')[1]).toEqual({ id: `${shortForm}#e`, publicKeyJwk: ed25519 })
    expect(keysFor(document, 'keyAgreement')).toEqual([{ id: `${shortForm}#x`, publicKeyJwk: x25519 }])
    expect(DidDocument.parse(document)).toEqual(document)
  })

  test('has the required contexts only, its own ones last, without duplicates', () => {
    const contexts = ['https://a.example/ctx', 'https://www.w3.org/ns/did/v1']
    const bare = toDocument(
      createState(createBytes({ publicKeys: [masterKey], services: [], contexts })),
      shortForm,
    )
    expect(bare['@context']).toEqual(['https://www.w3.org/ns/did/v1', 'https://a.example/ctx'])
    const didcomm = toDocument(
      published({
        services: [{ id: 's', type: '["DIDCommMessaging"]', serviceEndpoint: '{"uri":"https://a.example"}' }],
      }),
      shortForm,
    )
    expect(didcomm['@context']).toContain('https://didcomm.org/messaging/contexts/v2')
    expect(didcomm['@context']).not.toContain('https://identity.foundation/.well-known/did-configuration/v1')
  })
})

describe('metadata', () => {
  test('of a published DID has its canonical id, its version and its times in whole seconds', () => {
    expect(toMetadata(state)).toEqual({
      deactivated: false,
      canonicalId: shortForm,
      versionId: state.suffix,
      created: '2025-01-02T03:04:05Z',
      updated: '2025-01-02T03:04:05Z',
    })
    const changed = updated(state, { action: 'removeKey', id: 'auth-1' })
    expect(toMetadata(changed)).toMatchObject({
      versionId: changed.lastOperationHash,
      created: '2025-01-02T03:04:05Z',
      updated: '2025-02-02T03:04:05Z',
    })
    expect(changed.lastOperationHash).not.toBe(state.suffix)
    expect(later.getMilliseconds()).not.toBe(0)
  })

  test('of an unpublished DID has neither canonical id nor times', () => {
    expect(toMetadata(createState(createBytes()))).toEqual({ deactivated: false, versionId: state.suffix })
  })
})

describe('services', () => {
  const forms = [
    [
      'a name and a URI',
      { type: 'LinkedDomains', serviceEndpoint: 'https://example.com/' },
      'LinkedDomains',
      'https://example.com/',
    ],
    [
      'a list of one name',
      { type: ['LinkedDomains'], serviceEndpoint: 'did:example:1' },
      '["LinkedDomains"]',
      'did:example:1',
    ],
    [
      'names and an object',
      { type: ['A', 'B'], serviceEndpoint: { uri: 'https://a.example', accept: [] } },
      '["A","B"]',
      '{"uri":"https://a.example","accept":[]}',
    ],
    [
      'a list of endpoints',
      { type: 'A', serviceEndpoint: ['https://a.example/', { uri: 'x:y' }] },
      'A',
      '["https://a.example/",{"uri":"x:y"}]',
    ],
  ] as const
  test.each(forms)('%s keep their form', (_name, service, type, serviceEndpoint) => {
    const given = structuredClone({ id: 's', ...service }) as Parameters<typeof toPrismService>[0]
    expect(toPrismService(given)).toEqual({ id: 's', type, serviceEndpoint })
    expect(fromPrismService('did:example:1', { id: 's', type, serviceEndpoint })).toEqual({
      ...given,
      id: 'did:example:1#s',
    })
    expect(create({ services: [toPrismService(given)] }).services).toHaveLength(1)
  })

  test.each([
    ['https://foo.bar.com', 'https://foo.bar.com/'],
    ['HTTPS://Foo.Bar.com:443/a/../b', 'https://foo.bar.com/b'],
    ['did:peer:2.Ez', 'did:peer:2.Ez'],
    ['http://', 'http://'],
    ['urn:Example:A', 'urn:Example:A'],
    // Not URIs: the URL standard would turn them into other addresses.
    ['https://a.exa\nmple', 'https://a.exa\nmple'],
    ['https://a.example/ ', 'https://a.example/ '],
  ])('%s is written as %s', (uri, normalised) => {
    expect(toPrismService({ id: 's', type: 'A', serviceEndpoint: uri }).serviceEndpoint).toBe(normalised)
    expect(
      fromPrismService('did:example:1', { id: 's', type: 'A', serviceEndpoint: uri }).serviceEndpoint,
    ).toBe(normalised)
    expect(toPrismService({ id: 's', type: 'A', serviceEndpoint: [uri] }).serviceEndpoint).toBe(
      JSON.stringify([normalised]),
    )
  })
})
