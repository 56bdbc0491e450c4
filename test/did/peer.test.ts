import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../src/foundation/bytes.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { generateKey, type PublicJwk } from '../../src/foundation/crypto/keys.ts'
import { DidDocument, keysFor } from '../../src/did/document.ts'
import { createPeerDid, peerKeyIds, resolvePeerDid } from '../../src/did/peer.ts'

type Worked = {
  keyAgreement: PublicJwk
  authentication: PublicJwk
  multibase: { keyAgreement: string; authentication: string }
  created: { serviceUri: string; did: string }
  resolved: { name: string; did: string; services: { id: string }[] | null }[]
  numalgo4: { input: Record<string, unknown>; longForm: string; refused: Record<string, string> }
}
const worked = JSON.parse(
  readFileSync(new URL('../../fixtures/did-peer/worked.json', import.meta.url), 'utf8'),
) as Worked
const { keyAgreement, authentication, multibase, created, resolved, numalgo4 } = worked
const keys = `E${multibase.keyAgreement}.V${multibase.authentication}`

/** The type of the problem with which a DID is refused. */
function refusalOf(did: string): string {
  try {
    resolvePeerDid(did)
  } catch (error) {
    if (error instanceof Problem) return error.type.replace('error:DIDResolution:', '')
    throw error
  }
  return 'resolved'
}

const withService = (service: string) => `did:peer:2.${keys}.S${toBase64url(service)}`

describe('creating a peer DID', () => {
  test('gives the same bytes as the Cloud Agent', () => {
    expect(createPeerDid({ keyAgreement, authentication, serviceUri: created.serviceUri })).toBe(created.did)
  })

  test('refuses services that would make the DID too long to be resolved', () => {
    const make = (length: number) =>
      createPeerDid({ keyAgreement, authentication, serviceUri: `http://a.example/${'x'.repeat(length)}` })
    expect(resolvePeerDid(make(2_000)).service).toHaveLength(1)
    expect(() => make(3_000)).toThrow(/longer than 4000 characters/)
  })

  test('gives a DID that resolves to its keys and its service', () => {
    const document = resolvePeerDid(created.did)
    expect(keysFor(document, 'keyAgreement')[0]!.id).toBe(peerKeyIds(created.did).keyAgreement)
    expect(keysFor(document, 'authentication')[0]!.id).toBe(peerKeyIds(created.did).authentication)
    expect(keysFor(document, 'keyAgreement')).toEqual([
      { id: `${created.did}#key-1`, publicKeyJwk: keyAgreement },
    ])
    expect(keysFor(document, 'authentication')).toEqual([
      { id: `${created.did}#key-2`, publicKeyJwk: authentication },
    ])
    expect(document.service).toEqual([
      {
        id: `${created.did}#service`,
        type: 'DIDCommMessaging',
        serviceEndpoint: { uri: created.serviceUri, routingKeys: [], accept: ['didcomm/v2'] },
      },
    ])
  })

  test('includes nothing of a private key', () => {
    const [agreement, signing] = [generateKey('X25519'), generateKey('Ed25519')]
    const did = createPeerDid({
      keyAgreement: agreement,
      authentication: signing,
      serviceUri: 'https://a.example',
    })
    expect(JSON.stringify(resolvePeerDid(did))).not.toContain(signing.d)
    expect(did).toHaveLength(
      created.did.length - toBase64url(created.serviceUri).length + toBase64url('https://a.example').length,
    )
  })

  test.each([
    'https://a.example/~me',
    'https://a.example/xx~me',
    'https://a.example/?a',
    'https://a.example/é',
  ])('the base64url of the service %s contains neither - nor _', (serviceUri) => {
    const did = createPeerDid({ keyAgreement, authentication, serviceUri })
    expect(did.split('.S')[1]).toMatch(/^[A-Za-z0-9]+$/)
  })

  test('a service whose base64url would contain - or _ is refused', () => {
    const serviceUri = 'https://a.example/x~me'
    expect(() => createPeerDid({ keyAgreement, authentication, serviceUri })).toThrow(TypeError)
    expect(() => createPeerDid({ keyAgreement, authentication, serviceUri })).toThrow(serviceUri)
  })

  test.each<[string, { keyAgreement?: PublicJwk; authentication?: PublicJwk }]>([
    ['Ed25519 for keyAgreement', { keyAgreement: authentication }],
    ['X25519 for authentication', { authentication: keyAgreement }],
    ['a short key', { keyAgreement: { ...keyAgreement, x: 'AAAA' } }],
  ])('%s is refused', (_name, keys) => {
    const parts = { keyAgreement, authentication, serviceUri: 'https://a.example' }
    expect(() => createPeerDid({ ...parts, ...keys })).toThrow(TypeError)
  })
})

describe('resolving numalgo 2', () => {
  test.each(resolved)('$name', ({ did, services }) => {
    const document = resolvePeerDid(did)
    expect(document.service).toEqual(services?.map((service) => ({ ...service, id: did + service.id })))
    expect(document.verificationMethod).toEqual([
      { id: `${did}#key-1`, type: 'JsonWebKey2020', controller: did, publicKeyJwk: keyAgreement },
      { id: `${did}#key-2`, type: 'JsonWebKey2020', controller: did, publicKeyJwk: authentication },
    ])
    expect(DidDocument.parse(document)).toEqual(document)
  })

  test('keys are numbered in their order, without services, and all five purposes are known', () => {
    const key = multibase.authentication
    const did = `did:peer:2.A${key}.SW10.V${key}.I${key}.D${key}.E${multibase.keyAgreement}`
    const document = resolvePeerDid(did)
    expect(document.assertionMethod).toEqual([`${did}#key-1`])
    expect(document.authentication).toEqual([`${did}#key-2`])
    expect(document.capabilityInvocation).toEqual([`${did}#key-3`])
    expect(document.capabilityDelegation).toEqual([`${did}#key-4`])
    expect(document.keyAgreement).toEqual([`${did}#key-5`])
  })

  test('a service with padding is accepted, as the specification allows', () => {
    const service = '{"t":"dm","s":{"uri":"https://ab.example"}}'
    expect(Buffer.from(service).toString('base64')).toMatch(/=$/)
    const did = `did:peer:2.${keys}.S${Buffer.from(service).toString('base64')}`
    expect(resolvePeerDid(did).service![0]!.serviceEndpoint).toEqual({ uri: 'https://ab.example' })
  })

  test('a service named __proto__ changes no prototype', () => {
    const document = resolvePeerDid(
      withService('{"t":"x","s":"https://a.example","__proto__":{"polluted":1}}'),
    )
    expect((document.service![0] as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('resolving numalgo 0', () => {
  test('an Ed25519 key signs, and its derived X25519 key agrees', () => {
    const did = `did:peer:0${multibase.authentication}`
    const document = resolvePeerDid(did)
    for (const purpose of [
      'authentication',
      'assertionMethod',
      'capabilityInvocation',
      'capabilityDelegation',
    ] as const) {
      expect(keysFor(document, purpose)).toEqual([
        { id: `${did}#${multibase.authentication}`, publicKeyJwk: authentication },
      ])
    }
    expect(keysFor(document, 'keyAgreement')[0]!.publicKeyJwk.crv).toBe('X25519')
    expect(document.service).toBeUndefined()
  })

  test('an X25519 key is for agreement only', () => {
    const document = resolvePeerDid(`did:peer:0${multibase.keyAgreement}`)
    expect(keysFor(document, 'keyAgreement')).toHaveLength(1)
    expect(keysFor(document, 'authentication')).toEqual([])
  })
})

describe('resolving numalgo 4', () => {
  const did = numalgo4.longForm
  const shortForm = did.split(':').slice(0, 3).join(':')

  test('returns the document with absolute ids and keys as JWK', () => {
    const document = resolvePeerDid(did)
    expect(document.id).toBe(did)
    expect(document['alsoKnownAs']).toEqual([shortForm])
    expect(keysFor(document, 'keyAgreement')).toEqual([{ id: `${did}#agree`, publicKeyJwk: keyAgreement }])
    expect(keysFor(document, 'authentication')).toEqual([
      { id: `${did}#sign`, publicKeyJwk: authentication },
      { id: `${did}#inline`, publicKeyJwk: authentication },
    ])
    expect(document.verificationMethod![0]).toEqual({
      id: `${did}#agree`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: keyAgreement,
    })
    expect(document.service![0]!.id).toBe(`${did}#didcomm`)
  })
})

describe('a refused DID', () => {
  const { longForm, refused } = numalgo4
  const shortForm = longForm.split(':').slice(0, 3).join(':')
  const at = longForm.length - 5
  const changed = longForm.slice(0, at) + (longForm[at] === 'a' ? 'b' : 'a') + longForm.slice(at + 1)

  test.each([
    ['numalgo 1', 'did:peer:1zQmS19jtYDvGtKVrJhQnRFpBQAx3pJ9omx2HpNrcXFuRCz9', 'methodNotSupported'],
    ['numalgo 3', 'did:peer:3zQmS19jtYDvGtKVrJhQnRFpBQAx3pJ9omx2HpNrcXFuRCz9', 'methodNotSupported'],
    ['the short form of numalgo 4', shortForm, 'notFound'],
  ])('%s', (_name, did, type) => {
    expect(refusalOf(did)).toBe(type)
  })

  test.each([
    ...Object.entries(refused),
    ['a changed document', changed],
    ['two documents', `${longForm}:${longForm.split(':')[3]}`],
    ['an empty document', `${shortForm}:`],
    ['a long numalgo 2', `did:peer:2.${keys}.S${'A'.repeat(4_000)}`],
    ['a long numalgo 4', `did:peer:4z${'1'.repeat(1_000_000)}`],
    ['no element', 'did:peer:2'],
    ['no key', `did:peer:2.S${toBase64url('{"t":"dm","s":"https://a.example"}')}`],
    ['an empty element', `did:peer:2.${keys}..SW10`],
    ['an unknown purpose', `did:peer:2.${keys}.X${multibase.authentication}`],
    ['an element of lower case', `did:peer:2.e${multibase.keyAgreement}`],
    ['a fragment', `did:peer:2.${keys}#key-1`],
    ['a line break', `did:peer:2.${keys}\n`],
    ['a key one character short', `did:peer:2.${keys.slice(0, -1)}`],
    ['a signing key for agreement', `did:peer:2.E${multibase.authentication}`],
    ['an agreement key for authentication', `did:peer:2.V${multibase.keyAgreement}`],
    ['a service that is not JSON', withService('{')],
    ['a service that is text', withService('"x"')],
    ['a list with text in it', withService('["x"]')],
    ['a service without type', withService('{"s":"https://a.example"}')],
    ['a service without endpoint', withService('{"t":"dm"}')],
    ['a service whose id is a number', withService('{"id":1,"t":"dm","s":"https://a.example"}')],
    ['a service that is not UTF-8', `did:peer:2.${keys}.S${toBase64url(Uint8Array.of(0x22, 0xff, 0x22))}`],
    ['base64 of the standard alphabet', `did:peer:2.${keys}.SW10/`],
    ...[
      '',
      'z',
      multibase.authentication.slice(1),
      `${multibase.authentication}1`,
      `${multibase.authentication}:x`,
    ].map((text) => ['numalgo 0', `did:peer:0${text}`]),
    ...['did:peer:', 'did:peer:5zQm', 'did:peer:z6Mk', 'did:peer:1x', 'did:peer:3i21d', 'did:PEER:2', ''].map(
      (did) => ['another text', did],
    ),
  ] as [string, string][])('%s', (_name, did) => {
    expect(refusalOf(did)).toBe('invalidDid')
  })
})
