import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { anonCredsType } from '../../../src/credentials/schemas/anoncreds-schema.ts'
import { jsonLdType } from '../../../src/credentials/schemas/json-ld.ts'
import { checkSchema, jsonSchemaType } from '../../../src/credentials/schemas/schema-types.ts'

const licence = {
  $id: 'https://example.com/driving-license-1.0',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  description: 'Driving License',
  type: 'object',
  properties: {
    emailAddress: { type: 'string', format: 'email' },
    dateOfIssuance: { type: 'string', format: 'date-time' },
    bloodType: { type: 'string', pattern: '^(A|B|AB|O)[+-]?$', minLength: 1, maxLength: 3 },
    donor: { type: 'string', enum: ['yes', 'no'] },
    drivingClass: { type: 'integer', minimum: 1, exclusiveMaximum: 10 },
    height: { type: 'number', maximum: 2.5 },
    valid: { type: 'boolean' },
    categories: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
    address: {
      type: 'object',
      properties: { lines: { type: 'array', items: { type: 'string' } } },
      required: ['lines'],
      additionalProperties: false,
    },
    constructor: { type: 'string', title: 'a name like any other' },
  },
  required: ['emailAddress', 'drivingClass'],
  additionalProperties: false,
}

const anonCreds = { name: 'licence', version: '1.0', attrNames: ['name', 'class'], issuerId: 'did:prism:1' }

async function problemOf(type: string, schema: object): Promise<Problem> {
  try {
    await checkSchema(type, { ...schema })
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('a JSON schema', () => {
  test('of every allowed keyword is accepted', () => checkSchema(jsonSchemaType, licence))
  test('of the required keywords alone is accepted', async () => {
    await checkSchema(jsonSchemaType, { $schema: licence.$schema, type: 'object', properties: {} })
  })

  const property = (definition: object) => ({ ...licence, properties: { age: definition } })
  const deep = (levels: number): object =>
    levels === 0 ? { type: 'string' } : { type: 'array', items: deep(levels - 1) }

  async function expectRefusal(schema: object, place: string): Promise<void> {
    const problem = await problemOf(jsonSchemaType, JSON.parse(JSON.stringify(schema)))
    expect(problem).toMatchObject({ type: 'error:CredentialSchemaError:InvalidSchema', status: 400 })
    expect(problem.message).toContain(place)
  }

  const names = Array.from({ length: 126 }, (_, i) => `n${i}`)
  test.each<[string, object, string]>([
    ['without $schema', { $schema: undefined }, '$schema'],
    ['with another $schema', { $schema: 'http://json-schema.org/draft-2020-12/schema#' }, '$schema'],
    ['with a custom keyword', { emissionFactor: 1 }, 'emissionFactor'],
    ['without type', { type: undefined }, 'type'],
    ['of another type', { type: 'array' }, 'type'],
    ['without properties', { properties: undefined }, 'properties'],
    ['with references', { $defs: {} }, '$defs'],
    ['with an empty description', { description: '' }, 'description'],
    ['with 126 required names', { required: names }, 'required'],
    ['that requires a name twice', { required: ['a', 'a'] }, 'required'],
    ['with a schema for additional properties', { additionalProperties: {} }, 'additionalProperties'],
    ['with a property that is true', { properties: { age: true } }, 'properties.age'],
  ])('%s is refused, and the place is named', (_, change, place) =>
    expectRefusal({ ...licence, ...change }, `schema.${place}`),
  )

  const wrongDeepInside = { type: 'object', properties: { b: { type: 'string', x: 1 } } }
  test.each<[string, object, string]>([
    ['without type', {}, 'age'],
    ['of two types', { type: ['string', 'null'] }, 'age'],
    ['of an unknown type', { type: 'null' }, 'age'],
    ['with a keyword of another type', { type: 'string', minimum: 1 }, 'age.minimum'],
    ['with an unknown format', { type: 'string', format: 'phone' }, 'age.format'],
    ['with a negative length', { type: 'string', minLength: -1 }, 'age.minLength'],
    ['with a choice of nothing', { type: 'string', enum: [] }, 'age.enum'],
    ['with a choice of another type', { type: 'integer', enum: ['a'] }, 'age.enum'],
    ['that is an array of anything', { type: 'array' }, 'age.items'],
    ['that is an object of anything', { type: 'object' }, 'age.properties'],
    [
      'with something wrong deep inside',
      { type: 'array', items: wrongDeepInside },
      'age.items.properties.b.x',
    ],
  ])('with a property %s is refused, and the place is named', (_, definition, place) =>
    expectRefusal({ ...licence, properties: { age: definition } }, `schema.properties.${place}`),
  )

  const withPattern = (pattern: string) => property({ type: 'string', pattern })
  test.each<[string, object, string]>([
    ['with a broken pattern', withPattern('('), 'the pattern ( cannot be used'],
    ['with a back-reference', withPattern('(a)\\1'), 'the pattern (a)\\1 cannot be used'],
    ['with look-ahead', withPattern('(?=a)a'), 'the pattern (?=a)a cannot be used'],
    ['that nests too deeply', property(deep(70)), 'deeper than 64 levels'],
    ['with a long pattern', withPattern('a'.repeat(1_001)), 'more than 1000 characters'],
    ['with patterns of a megabyte', withPattern('a'.repeat(1_000_000)), 'more than 100000 characters'],
    ['with __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), '__proto__'],
  ])('%s is refused with the reason', (_, schema, reason) => expectRefusal(schema, reason))
})

describe('a JSON-LD schema', () => {
  const terms = {
    '@version': 1.1,
    schema: 'https://schema.org/',
    name: 'schema:name',
    age: { '@id': 'https://example.org/age', '@type': 'xsd:integer' },
  }
  const person = {
    ...licence,
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name'],
  }

  test.each<[string, unknown]>([
    ['terms of its own', terms],
    ['a context elsewhere', 'https://schema.org/docs/jsonldcontext.json'],
    ['both', ['https://www.w3.org/2018/credentials/v1', { name: null }]],
    ['a vocabulary for all terms', { '@vocab': 'https://schema.org/' }],
    [
      'a scoped context',
      {
        ...terms,
        age: { '@id': 'https://example.org/age', '@context': { '@vocab': 'https://example.org/' } },
      },
    ],
    ['two contexts', [{ name: 'https://schema.org/name' }, { age: 'https://example.org/age' }]],
  ])('with %s is accepted', async (_, context) => checkSchema(jsonLdType, { ...person, '@context': context }))

  test.each<[string, object, string]>([
    ['without @context', person, 'schema.@context'],
    ['with an empty list of contexts', { ...person, '@context': [] }, 'schema.@context'],
    ['with a context that is not a URL', { ...person, '@context': 'schema.org' }, 'schema.@context'],
    [
      'with an unknown keyword in a term',
      { ...person, '@context': { ...terms, age: { '@ID': 'x' } } },
      'schema.@context',
    ],
    [
      'with a property that is not a term',
      { ...person, '@context': { name: 'https://schema.org/name' } },
      'schema.properties.age: is not a term',
    ],
    ['that is not a JSON schema', { ...person, '@context': terms, $defs: {} }, 'schema.$defs'],
  ])('%s is refused, and the place is named', async (_, schema, place) => {
    const problem = await problemOf(jsonLdType, schema)
    expect(problem).toMatchObject({ type: 'error:CredentialSchemaError:InvalidSchema', status: 400 })
    expect(problem.message).toContain(place)
  })
})

describe('an AnonCreds schema', () => {
  test('of its four members is accepted', () => checkSchema(anonCredsType, anonCreds))
  test.each([
    ['name', undefined],
    ['version', undefined],
    ['issuerId', undefined],
    ['attrNames', undefined],
    ['attrNames', []],
    ['attrNames', ['a', 'a']],
    ['attrNames', ['given name', 'GivenName']],
    ['attrNames', ['age', 'Master_Secret']],
    ['attrNames', [' ']],
    ['attrNames', Array.from({ length: 126 }, (_, i) => `n${i}`)],
    ['extra', 1],
  ])('with %s %j is refused', async (member, value) => {
    const problem = await problemOf(anonCredsType, { ...anonCreds, [member]: value })
    expect(problem.type).toBe('error:CredentialSchemaError:InvalidSchema')
    expect(problem.message).toContain(`schema.${member}`)
  })
})

test('a schema of an unknown type is refused', async () => {
  expect(await problemOf('https://example.org/xml', licence)).toMatchObject({
    type: 'error:CredentialSchemaError:UnsupportedCredentialSchemaType',
    status: 400,
  })
})
