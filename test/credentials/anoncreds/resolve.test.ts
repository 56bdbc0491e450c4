/**
 * Schemas and definitions of other agents by URL: which are accepted, the reasons of refusals, and the
 * network requests.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { createHttpClient, type HttpClient } from '../../../src/foundation/net/http-client.ts'
import {
  dereferenceAnonCredsSchema,
  dereferenceDefinition,
  isIssuerAuthentic,
  type DefinitionSources,
} from '../../../src/credentials/anoncreds/resolve.ts'
import { findSchemaMismatch } from '../../../src/credentials/anoncreds/resolve.ts'
import { dereference } from '../../../src/credentials/schemas/dereference.ts'
import { toEnvelope } from '../../../src/credentials/schemas/did-url.ts'
import { startServer } from '../../support/server.ts'
import { definition, made } from './_flow.ts'
import { untilEnd } from '../../support/shared.ts'

const guid = '3f86a73f-5b78-39c7-af77-0c16123fa9c2'
const issuer = made.schema.issuerId
const path = 'credential-definition-registry/definitions'
const [n, primary] = [BigInt(made.primary.n), made.primary]

/** Documents by path, and the requested paths. */
const documents = new Map<string, unknown>()
const asked: string[] = []
let http: HttpClient
const server = await untilEnd(
  startServer((request, response) => {
    asked.push(request.url!)
    const document = documents.get(request.url!.split('?')[0]!)
    response
      .writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(document ?? null))
  }),
)
beforeEach(() => {
  documents.clear()
  asked.length = 0
  http = createHttpClient({ allow: 'loopback' })
})

const sources = (change: Partial<DefinitionSources> = {}): DefinitionSources => ({
  http,
  baseUrls: ['https://agent.example'],
  resolve: (did) =>
    Promise.resolve({
      id: did,
      service: [{ id: `${did}#agent-base-url`, type: 'LinkedResourceV1', serviceEndpoint: server.url }],
    }),
  readDefinition: (asked, isRaw) =>
    asked === guid
      ? Promise.resolve(isRaw ? definition : { guid, definition })
      : Promise.reject(new Problem('NotFound', 'not there')),
  ...change,
})
const read = (url: string) => dereferenceDefinition(url, sources())
const reasonOf = (url: string) => read(url).catch((error: Problem) => [error.type, error.message])

describe('a definition', () => {
  test('is read as a bare document and as a record of a registry, and cached', async () => {
    documents.set('/alone', definition)
    documents.set('/record', { guid, name: 'id', definition })
    for (const place of ['/alone', '/alone', '/record'])
      expect(await read(server.url + place)).toEqual(definition)
    expect(asked).toEqual(['/alone', '/record'])
  })

  test('of the own registry is read without the network', async () => {
    for (const place of [guid, `${guid}/definition`, `did-url/${guid}`])
      expect(await read(`https://agent.example/${path}/${place}`)).toEqual(definition)
    expect(
      await reasonOf(`https://agent.example/${path}/00000000-0000-3000-8000-000000000000/definition`),
    ).toEqual(['error:CredentialDefinitionError:DereferencingError', expect.stringContaining('not there')])
    expect(asked).toEqual([])
  })

  test('of a DID URL belongs to that DID, and has the digest in the URL', async () => {
    const envelope = toEnvelope(issuer, `${path}/did-url/${guid}/definition`, definition)
    documents.set(`/${path}/did-url/${guid}/definition`, envelope)
    expect(await read(envelope.url)).toEqual(definition)
    expect(await reasonOf(envelope.url.replace('issuer.example', 'other.example'))).toEqual([
      'error:CredentialDefinitionError:DereferencingError',
      expect.stringContaining('issuerId: must be the DID in the URL, not did:web:issuer.example'),
    ])
    expect(await reasonOf(envelope.url.replace('?resourceHash=', '&resourceHash=0'))).toEqual([
      'error:CredentialDefinitionError:DereferencingError',
      expect.stringContaining('it is not the one whose digest is in the URL'),
    ])
  })

  test.each<[string, unknown, string]>([
    ['is not there', undefined, 'status'],
    ['is not an object', [definition], 'not a JSON object'],
    ['has another type', { ...definition, type: 'BBS' }, 'type:'],
    ['has no issuer', { ...definition, issuerId: undefined }, 'issuerId:'],
    ['has no schema', { ...definition, schemaId: '' }, 'schemaId:'],
    [
      'has an invalid number',
      { ...definition, value: { primary: { ...primary, s: '0x1' } } },
      'value.primary.s:',
    ],
    [
      'has a number that is too long',
      { ...definition, value: { primary: { ...primary, s: '9'.repeat(1_600) } } },
      'value.primary.s:',
    ],
    [
      'has a short modulus',
      { ...definition, value: { primary: { ...primary, n: (n >> 3n).toString() } } },
      'n: must have 2048 bits',
    ],
    [
      'has an even modulus',
      { ...definition, value: { primary: { ...primary, n: (n - 1n).toString() } } },
      'n: must be odd',
    ],
    [
      'has a generator of one',
      { ...definition, value: { primary: { ...primary, s: '1' } } },
      'value.primary.s: must be between',
    ],
    [
      'has a negative number',
      { ...definition, value: { primary: { ...primary, z: '-5' } } },
      'value.primary.z: must be between',
    ],
    [
      'has a number above the modulus',
      { ...definition, value: { primary: { ...primary, rctxt: primary.n } } },
      'value.primary.rctxt:',
    ],
    [
      'has an attribute of n - 1',
      { ...definition, value: { primary: { ...primary, r: { ...primary.r, age: (n - 1n).toString() } } } },
      'r.age: must be',
    ],
    [
      'does not sign the link secret',
      { ...definition, value: { primary: { ...primary, r: { age: primary.s } } } },
      'must have master_secret',
    ],
  ])('that %s is refused with the reason', async (_, document, reason) => {
    documents.set('/d', document)
    expect(await reasonOf(`${server.url}/d`)).toEqual([
      'error:CredentialDefinitionError:DereferencingError',
      expect.stringMatching(
        new RegExp(`^The credential definition ${server.url}/d could not be read: .*${reason}`),
      ),
    ])
  })

  test('matches the schema whose attributes it signs', () => {
    expect(findSchemaMismatch(definition, made.schema)).toBeUndefined()
    expect(findSchemaMismatch(definition, { ...made.schema, attrNames: ['Given Name', 'age'] })).toMatch(
      /an attribute that the schema does not have/,
    )
    expect(
      findSchemaMismatch(definition, {
        ...made.schema,
        attrNames: [...made.schema.attrNames, 'Date Of Birth'],
      }),
    ).toMatch(/dateofbirth/)
  })
})

describe('an AnonCreds schema', () => {
  const readSchema = (url: string) =>
    dereferenceAnonCredsSchema(url, (url) =>
      dereference(url, { ...sources(), findSchema: () => Promise.resolve(undefined) }),
    )

  test('is read without its unknown members', async () => {
    documents.set('/s', { ...made.schema, extra: 1 })
    expect(await readSchema(`${server.url}/s`)).toEqual(made.schema)
  })

  test.each<[string, object, string]>([
    ['has no attributes', { attrNames: [] }, 'attrNames:'],
    ['names one twice', { attrNames: ['a b', 'AB'] }, 'attrNames:'],
    ['is a JSON schema', { attrNames: undefined, type: 'object' }, 'attrNames:'],
    ['has no issuer', { issuerId: undefined }, 'issuerId:'],
  ])('that %s is refused with the reason', async (_, change, reason) => {
    documents.set('/s', { ...made.schema, ...change })
    await expect(readSchema(`${server.url}/s`)).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
      message: expect.stringContaining(`${server.url}/s is not a usable AnonCreds schema: ${reason}`),
    })
  })

  test('of a DID URL belongs to that DID', async () => {
    const envelope = toEnvelope('did:web:other.example', 's', made.schema)
    documents.set('/s', envelope)
    await expect(readSchema(envelope.url)).rejects.toThrow(/issuerId: must be the DID in the URL/)
  })
})

test.each([
  ['did:web:issuer.example?resourceService=agent-base-url&resourcePath=x', true],
  [`https://agent.example/${path}/${guid}/definition`, true],
  [`https://agent.example/schema-registry/schemas/${guid}/schema`, true],
  [`https://agent.example.evil.example/${path}/${guid}/definition`, false],
  [`https://agent.example/anything/${guid}`, false],
  ['https://issuer.example/definition', false],
])('whether %s proves the issuer: %s', (url, vouches) => {
  expect(isIssuerAuthentic(url, ['https://agent.example/'])).toBe(vouches)
})
