/** DID documents of other software that are odd, but have the key that the DID signs with: the key is found. */
import { expect, test } from 'vitest'
import { generateKey, sign, toPublic, verify } from '../../src/foundation/crypto/keys.ts'
import { keysHinted, type Purpose } from '../../src/did/document.ts'
import { resolveWebDid } from '../../src/did/web.ts'
import { createHttpClient } from '../../src/foundation/net/http-client.ts'
import { startServer } from '../support/server.ts'

const [key, text] = [generateKey('P-256'), Buffer.from('a text')]
const publicKeyJwk = toPublic(key) as { x: string; y: string }
const fragment = '48d8a34263cf492aa7ff61b6183e8bcf'

type Oddity = { document: (did: string) => object; purpose?: Purpose; kid?: string }

const method = (did: string, more: object = {}) => ({
  id: `${did}#key-1`,
  type: 'JsonWebKey2020',
  controller: did,
  publicKeyJwk,
  ...more,
})

const rows: [string, Oddity][] = [
  // walt.id, issue 61 of waltid-identity ("Erroneous did document for did:web not accepted by MS Entra").
  [
    'the id of the method is the DID, and all purposes name its kid',
    {
      document: (did) => ({
        verificationMethod: [
          method(did, { id: did, publicKeyJwk: { ...publicKeyJwk, use: 'sig', kid: fragment } }),
        ],
        assertionMethod: [`${did}#${fragment}`],
      }),
      kid: `#${fragment}`,
    },
  ],
  // Engineering-Research-and-Development/dsp-true-connector, did.issuer.json of its documentation, as that of
  // a data space of Eclipse EDC.
  [
    'a purpose names the key by its name alone, and a member of the key is null',
    {
      document: (did) => ({
        '@context': ['https://www.w3.org/ns/did/v1', { '@base': did }],
        service: [],
        verificationMethod: [method(did, { publicKeyMultibase: null })],
        authentication: ['key-1'],
      }),
      purpose: 'authentication',
    },
  ],
  // Veramo, issue 500 ("DID document for did:web:localhost:xyz does not have public keys for ES256K").
  [
    'an entry of a purpose has the form before DID Core 1.0',
    {
      document: (did) => ({
        publicKey: [{ id: `${did}#0x89`, type: 'Secp256k1VerificationKey2018', publicKeyHex: '0x8994970c' }],
        verificationMethod: [method(did)],
        authentication: [
          { type: 'Secp256k1SignatureAuthentication2018', publicKey: `${did}#0x89` },
          '#key-1',
        ],
      }),
      purpose: 'authentication',
    },
  ],
  // Guides to mediators of Hyperledger Aries show so the document of a wallet on a phone.
  [
    'the endpoint of a service is null',
    {
      document: (did) => ({
        verificationMethod: [method(did)],
        assertionMethod: ['#key-1'],
        service: [{ id: `${did}#did-communication`, type: 'did-communication', serviceEndpoint: null }],
      }),
    },
  ],
  // JSON-LD processors write an array of one value so (JSON-LD 1.1 API, compaction).
  [
    'a purpose is one text',
    { document: (did) => ({ verificationMethod: [method(did)], assertionMethod: `${did}#key-1` }) },
  ],
  // w3c/did, issue 708: methods without a fragment; beside it, a method without a type.
  [
    'another method is incomplete',
    {
      document: (did) => ({
        verificationMethod: [{ id: `${did}/keys/1`, controller: did }, method(did)],
        assertionMethod: [`${did}/keys/1`, '#key-1'],
      }),
    },
  ],
  // sicpa-dlab/peer-did-python, tests/test_vectors.py: the coordinates have padding.
  [
    'the coordinates of the key have padding',
    {
      document: (did) => ({
        verificationMethod: [
          method(did, {
            publicKeyJwk: { ...publicKeyJwk, x: `${publicKeyJwk.x}=`, y: `${publicKeyJwk.y}=` },
          }),
        ],
        assertionMethod: ['#key-1'],
      }),
    },
  ],
]

test.each(rows)('%s', async (_, { document, purpose = 'assertionMethod', kid = '#key-1' }) => {
  await using server = await startServer((_request, response) => {
    response.end(JSON.stringify({ id: did, ...document(did) }))
  })
  const did = `did:web:127.0.0.1%3A${server.port}`
  const http = createHttpClient({ allow: 'loopback' })
  try {
    const resolved = await resolveWebDid(did, { http, allowsLoopback: true })
    const keys = keysHinted(resolved, purpose, did + kid)
    expect(keys.map(({ id }) => id)).toEqual([did + kid])
    expect(verify(keys[0]!.publicKeyJwk, text, sign(key, text))).toBe(true)
  } finally {
    await http.close()
  }
})
