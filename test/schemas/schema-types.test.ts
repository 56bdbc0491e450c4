import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { anonCredsType } from '../../src/schemas/anoncreds-schema.ts'
import { jsonLdType } from '../../src/schemas/json-ld.ts'
import { checkSchema, jsonSchemaType } from '../../src/schemas/schema-types.ts'

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

  test.each<[string, object, string]>([
    ['without $schema', { ...licence, $schema: undefined }, 'schema.$schema'],
    [
      'with another $schema',
      { ...licence, $schema: 'http://json-schema.org/draft-2020-12/schema#' },
      'schema.$schema',
    ],
    ['with a custom keyword', { ...licence, emissionFactor: 1 }, 'schema.emissionFactor'],
    ['without type', { ...licence, type: undefined }, 'schema.type'],
    ['of another type', { ...licence, type: 'array' }, 'schema.type'],
    ['without properties', { ...licence, properties: undefined }, 'schema.properties'],
    ['with references', { ...licence, $defs: {} }, 'schema.$defs'],
    ['with an empty description', { ...licence, description: '' }, 'schema.description'],
    [
      'with 126 required names',
      { ...licence, required: Array.from({ length: 126 }, (_, i) => `n${i}`) },
      'schema.required',
    ],
    ['that requires a name twice', { ...licence, required: ['a', 'a'] }, 'schema.required'],
    [
      'with a schema for additional properties',
      { ...licence, additionalProperties: {} },
      'schema.additionalProperties',
    ],
    ['with a property without type', property({}), 'schema.properties.age'],
    ['with a property of two types', property({ type: ['string', 'null'] }), 'schema.properties.age'],
    ['with a property of an unknown type', property({ type: 'null' }), 'schema.properties.age'],
    ['with a property that is true', { ...licence, properties: { age: true } }, 'schema.properties.age'],
    [
      'with a keyword of another type',
      property({ type: 'string', minimum: 1 }),
      'schema.properties.age.minimum',
    ],
    ['with an unknown format', property({ type: 'string', format: 'phone' }), 'schema.properties.age.format'],
    [
      'with a negative length',
      property({ type: 'string', minLength: -1 }),
      'schema.properties.age.minLength',
    ],
    ['with a broken pattern', property({ type: 'string', pattern: '(' }), 'the pattern ( cannot be used'],
    [
      'with a back-reference',
      property({ type: 'string', pattern: '(a)\\1' }),
      'the pattern (a)\\1 cannot be used',
    ],
    ['with look-ahead', property({ type: 'string', pattern: '(?=a)a' }), 'the pattern (?=a)a cannot be used'],
    ['with a choice of nothing', property({ type: 'string', enum: [] }), 'schema.properties.age.enum'],
    [
      'with a choice of another type',
      property({ type: 'integer', enum: ['a'] }),
      'schema.properties.age.enum',
    ],
    ['with an array of anything', property({ type: 'array' }), 'schema.properties.age.items'],
    ['with an object of anything', property({ type: 'object' }), 'schema.properties.age.properties'],
    [
      'with something wrong deep inside',
      property({ type: 'array', items: { type: 'object', properties: { b: { type: 'string', x: 1 } } } }),
      'schema.properties.age.items.properties.b.x',
    ],
    ['that nests too deeply', property(deep(70)), 'deeper than 64 levels'],
    [
      'with a long pattern',
      property({ type: 'string', pattern: 'a'.repeat(1_001) }),
      'more than 1000 characters',
    ],
    [
      'with patterns of a megabyte',
      property({ type: 'string', pattern: 'a'.repeat(1_000_000) }),
      'more than 100000 characters',
    ],
    ['with __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), '__proto__'],
  ])('%s is refused, and the place is named', async (_, schema, place) => {
    const problem = await problemOf(jsonSchemaType, JSON.parse(JSON.stringify(schema)))
    expect(problem).toMatchObject({ type: 'error:CredentialSchemaError:InvalidSchema', status: 400 })
    expect(problem.message).toContain(place)
  })
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
    ['with a context that is no URL', { ...person, '@context': 'schema.org' }, 'schema.@context'],
    [
      'with an unknown keyword in a term',
      { ...person, '@context': { ...terms, age: { '@ID': 'x' } } },
      'schema.@context',
    ],
    [
      'with a property that is no term',
      { ...person, '@context': { name: 'https://schema.org/name' } },
      'schema.properties.age: is not a term',
    ],
    ['that is no JSON schema', { ...person, '@context': terms, $defs: {} }, 'schema.$defs'],
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
