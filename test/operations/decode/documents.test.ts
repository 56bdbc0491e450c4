/** Offers, requests, metadata, invitations, messages, DIDs and certificates; and what is none of them. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { signJws } from '../../../src/credentials/codecs/jws.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import {
  createInvitation,
  embedMessage,
  toInvitationUrl,
  toOob,
} from '../../../src/exchange/didcomm/invitation.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { generatePeerDid } from '../../../src/did/peer.ts'
import { issueAuthority } from '../../../src/foundation/x509/issue.ts'
import { named, type PublishedVector, readPublished } from '../../support/vectors.ts'
import { fixture, read, refusalOf, resultsOf } from './_read.ts'

const offer = {
  credential_issuer: 'https://issuer.example',
  credential_configuration_ids: ['Pass'],
  grants: {
    'urn:ietf:params:oauth:grant-type:pre-authorized_code': {
      'pre-authorized_code': 'secret',
      tx_code: { length: 4, input_mode: 'numeric', description: 'in the letter' },
    },
  },
}

describe('OpenID', () => {
  test('an offer by value, in a URL and in JSON', async () => {
    const url = `openid-credential-offer://?credential_offer=${encodeURIComponent(JSON.stringify(offer))}`
    for (const text of [url, JSON.stringify(offer)])
      expect(await read(text)).toMatchObject({
        kind: 'credential-offer',
        facts: {
          issuer: 'https://issuer.example',
          credentials: ['Pass'],
          grants: ['pre-authorized_code'],
          'transaction code': 'needed: 4 digits (in the letter)',
        },
      })
  })

  test('an offer by reference says that it needs a network', async () => {
    const uri = 'https://issuer.example/offer/1'
    expect(
      await read(`openid-credential-offer://?credential_offer_uri=${encodeURIComponent(uri)}`),
    ).toMatchObject({
      kind: 'credential-offer-reference',
      facts: { URL: uri, content: 'needs --online: it is at that URL' },
      parts: [],
    })
  })

  const query = fixture('openid/dcql/simple.json')
  const parameters = {
    client_id: 'redirect_uri:https://v.example/r',
    response_type: 'vp_token',
    response_mode: 'direct_post',
    nonce: 'n',
  }

  test('a request in the parameters of a URL', async () => {
    const search = new URLSearchParams({ ...parameters, dcql_query: query })
    const decoded = await read(`openid4vp://?${search.toString()}`)
    expect(decoded).toMatchObject({
      kind: 'authorization-request',
      facts: { 'client id': parameters.client_id, asks: [expect.stringContaining('dc+sd-jwt')] },
    })
    expect(resultsOf(decoded)).toEqual({ query: 'passed', signature: 'not verified' })
  })

  test('a signed request object, by the key of its DID', async () => {
    const key = generateKey('P-256')
    const did = createJwkDid(toPublic(key))
    const payload = {
      ...parameters,
      client_id: `decentralized_identifier:${did}`,
      dcql_query: JSON.parse(query) as object,
    }
    const request = signJws({ typ: 'oauth-authz-req+jwt', kid: `${did}#0` }, payload, key)
    const client = encodeURIComponent(payload.client_id)
    const decoded = await read(`openid4vp://?client_id=${client}&request=${request}`)
    expect(resultsOf(decoded)).toEqual({ 'client id': 'passed' })
    const other = await read(`openid4vp://?client_id=other&request=${request}`)
    expect(resultsOf(other)).toEqual({ 'client id': 'failed' })
    expect((await read(JSON.stringify({ request }))).parts.map(({ kind }) => kind)).toEqual([
      'authorization-request',
    ])
    expect(decoded.parts).toMatchObject([
      { kind: 'authorization-request', checks: [{ name: 'signature', result: 'passed' }] },
    ])
  })

  // Their faults are in members that wallets do not need.
  const usable = ['bdr-example1', 'in-optional-property', 'jwks-as-array']
  const metadata = readdirSync(new URL('../../../fixtures/openid/metadata', import.meta.url))
  test.each(metadata)('the published metadata %s', async (name) => {
    const result = await read(fixture(`openid/metadata/${name}`)).then(
      ({ kind }) => kind,
      (error: Error) => error.message,
    )
    const isServer = name.includes('authorization-server-metadata')
    if (name.startsWith('invalid') && !usable.some((each) => name.includes(each)))
      expect(result).toMatch(
        isServer ? /./ : /^This is the metadata of a credential issuer, but its content cannot be read: /,
      )
    else expect(result).toBe(isServer ? 'server-metadata' : 'issuer-metadata')
  })

  test.each(readdirSync(new URL('../../../fixtures/openid/dcql', import.meta.url)))(
    'the query %s of the specification',
    async (name) => {
      expect((await read(fixture(`openid/dcql/${name}`))).kind).toMatch(
        /^(?:dcql-query|authorization-request)$/,
      )
    },
  )

  test('a request object by reference needs a network', async () => {
    const decoded = await read(
      'openid4vp://?client_id=a&request_uri=https%3A%2F%2Fv.example%2F1&request_uri_method=post',
    )
    expect(decoded).toMatchObject({
      facts: {
        'request object': 'https://v.example/1',
        method: 'post',
        content: 'needs --online: it is at that URL',
      },
      parts: [],
    })
  })

  test('type metadata', async () => {
    const type = {
      vct: 'urn:person',
      name: 'Person',
      claims: [{ path: ['name'], mandatory: true, sd: 'always' }],
    }
    expect(await read(JSON.stringify(type))).toMatchObject({
      kind: 'type-metadata',
      facts: { name: 'Person', claims: ['name · mandatory · sd always'] },
    })
  })
})

describe('DIDComm', () => {
  const { did } = generatePeerDid('https://agent.example/didcomm')
  const message = {
    id: 'm',
    type: 'https://didcomm.org/issue-credential/3.0/offer-credential',
    body: {},
    thid: 't',
    from: did,
    attachments: [],
  }
  const invitation = createInvitation({
    id: 'i',
    from: did,
    goal: 'Get a pass',
    expiresTime: 1_600_000_000,
    attachments: [embedMessage('a', message)],
  })

  test.each([
    ['a URL', toInvitationUrl('https://agent.example', invitation)],
    ['its parameter', toOob(invitation)],
    ['JSON', JSON.stringify(invitation)],
  ])('an invitation as %s, with its DID and its message', async (_, text) => {
    const decoded = await read(text)
    expect(decoded).toMatchObject({
      kind: 'invitation',
      facts: { goal: 'Get a pass', expires: new Date(1_600_000_000_000), attached: message.type },
    })
    expect(decoded.parts.map(({ kind }) => kind)).toEqual(['did', 'didcomm-plain'])
  })

  test('a short link is shown as such', async () => {
    expect(await read('https://agent.example/i?_oobid=abc')).toMatchObject({
      kind: 'short-link',
      facts: { host: 'agent.example' },
    })
  })

  type Message = PublishedVector & { packed: string | object }
  const vectors = (readPublished('didcomm-v2') as { vectors: Message[] }).vectors
  test.each(named(vectors))('the published message %s', async (_, { kind, packed }) => {
    const { kind: decoded } = await read(typeof packed === 'string' ? packed : JSON.stringify(packed))
    expect(decoded).toBe(
      { plaintext: 'didcomm-plain', signed: 'didcomm-signed', encrypted: 'didcomm-encrypted' }[kind],
    )
  })
})

describe('DIDs', () => {
  type Prism = PublishedVector & { did: string; canonical: string }
  const published = ['did-prism', 'identus-did-prism'].flatMap(
    (name) => (readPublished(name) as { vectors: Prism[] }).vectors,
  )
  const longForms = published.filter(
    ({ kind, expect: expected }) => kind === 'long-form' && expected !== 'either',
  )
  test.each(named(longForms))(
    'the published long form %s',
    async (_, { did, expect: expected, canonical }) => {
      const decoded = await read(did).catch(() => undefined)
      if (expected === 'reject') return expect(decoded && resultsOf(decoded)['document']).not.toBe('passed')
      expect(decoded).toMatchObject({
        kind: 'did',
        facts: { 'short form': canonical },
        checks: [{ result: 'passed' }],
      })
    },
  )

  test.each([
    ['did:web:example.org', 'not verified', 'did:web needs --online'],
    [`did:prism:${'0'.repeat(64)}`, 'not verified', 'needs a ledger: --online asks the daemon'],
    ['did:example:123', 'not verified', 'did:example is not supported'],
    ['did:key:z6Mk', 'failed', 'did:key:z6Mk'],
  ])('%s', async (did, result, reason) => {
    const { checks } = await read(did)
    expect(checks).toMatchObject([{ name: 'document', result, detail: expect.stringContaining(reason) }])
  })

  test('a DID URL says what it names', async () => {
    const did = createJwkDid(toPublic(generateKey('P-256')))
    expect((await read(`${did}#0`)).facts['named']).toBe('the key 0')
    expect((await read(`${did}#1`)).facts['named']).toMatch(/^nothing/)
  })
})

test('an X.509 certificate', async () => {
  const { certificate } = await issueAuthority('CN=Authority, O=Example', 30)
  const decoded = await read(certificate)
  expect(decoded).toMatchObject({
    kind: 'certificate',
    facts: { subject: 'CN=Authority, O=Example', key: 'prime256v1' },
  })
  expect(resultsOf(decoded)).toEqual({ signature: 'passed' })
  expect((await read(`${certificate}\n${certificate}`)).parts).toEqual([decoded])
})

test('a text in quotation marks', async () => {
  expect((await read('"did:web:example.org"')).kind).toBe('did')
})

test.each([
  ['', 'There is nothing to decode'],
  ['hello', 'The text is not recognised'],
  ['www.example.com', 'The text is not recognised'],
  ['{"a":1}', 'This is JSON, but of no known kind: it has the members a'],
  ['{"a":', 'This is JSON, but its text cannot be read'],
  [
    '{"credential_configuration_ids":[]}',
    'This is an OpenID4VCI credential offer, but its content cannot be read: credential_issuer',
  ],
  ['openid4vp://?a=b', 'This is a URL of the scheme openid4vp, but it has none of the parameters'],
  [
    `https://a.example?_oob=${toBase64url('{"id":1}')}`,
    'This is a DIDComm invitation, but its content cannot be read',
  ],
  ['did:', 'This is a DID, but its text cannot be read'],
  [
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    'This is an X.509 certificate in PEM, but its content cannot be read',
  ],
])('%s is refused with the reason', async (text, reason) => {
  expect(await refusalOf(text)).toContain(`DecodeError: ${reason}`)
})
