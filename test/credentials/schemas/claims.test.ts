import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { checkClaims } from '../../../src/credentials/schemas/claims.ts'

const licence = {
  $id: 'https://example.com/driving-license-1.0',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    emailAddress: { type: 'string', format: 'email' },
    familyName: { type: 'string' },
    dateOfIssuance: { type: 'string', format: 'date-time' },
    drivingClass: { type: 'integer', minimum: 1 },
    bloodType: { type: 'string', pattern: '^(A|B|AB|O)[+-]?$' },
    plate: { type: 'string', pattern: '^[A-Z]{2}-[0-9]+$' },
  },
  required: ['emailAddress', 'familyName', 'drivingClass'],
  additionalProperties: false,
}
const alice = {
  emailAddress: 'alice@wonderland.com',
  familyName: 'Wonderland',
  dateOfIssuance: '2020-11-13T20:20:39+00:00',
  drivingClass: 3,
  bloodType: 'AB+',
  plate: 'AB-1',
}

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const named = (count: number, make: (i: number) => unknown) =>
  Object.fromEntries(times(count, (i) => [`k${i}`, make(i)]))

async function problemOf(claims: unknown, schema: unknown): Promise<Problem | undefined> {
  try {
    await checkClaims(claims, schema)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  return undefined
}

const isValid = async (claims: unknown, schema: unknown) => {
  const problem = await problemOf(claims, schema)
  if (problem && problem.type !== 'error:CredentialSchemaError:CredentialSchemaValidationError') throw problem
  return problem === undefined
}

describe('claims', () => {
  test('that satisfy the schema pass', async () => expect(await problemOf(alice, licence)).toBeUndefined())

  test('are refused with every violation and its path', async () => {
    const claims = {
      emailAddress: 'alice',
      dateOfIssuance: 'yesterday',
      drivingClass: 0,
      bloodType: 'X',
      plate: 'AB+',
      'post code': 1,
      a: { b: 1 },
    }
    const problem = await problemOf(claims, licence)
    expect(problem).toMatchObject({
      type: 'error:CredentialSchemaError:CredentialSchemaValidationError',
      status: 422,
    })
    expect(problem!.message).toMatch(/^The credential schema validation failed: /)
    const reasons = problem!.message.slice('The credential schema validation failed: '.length).split('; ')
    expect(reasons.toSorted()).toEqual([
      '$.a: is not defined in the schema, which allows no others',
      '$.bloodType: must match pattern "^(A|B|AB|O)[+-]?$"',
      '$.dateOfIssuance: must match format "date-time"',
      '$.drivingClass: must be >= 1',
      '$.emailAddress: must match format "email"',
      '$.familyName: is missing but it is required',
      '$.plate: must match pattern "^[A-Z]{2}-[0-9]+$"',
      "$['post code']: is not defined in the schema, which allows no others",
    ])
  })

  test('paths contain indexes and quoted names', async () => {
    const schema = { properties: { 'it\'s/a~"path\\': { items: { properties: { n: { enum: [1, 2] } } } } } }
    expect((await problemOf({ 'it\'s/a~"path\\': [{ n: 1 }, { n: 3 }] }, schema))!.message).toContain(
      `$['it\\'s/a~"path\\\\'][1].n: must be one of [1,2]`,
    )
  })

  test('with many violations list a hundred and count the rest, in bounded length', async () => {
    const problem = await problemOf(
      named(250, () => 'x'),
      { additionalProperties: { type: 'integer' } },
    )
    expect(problem!.message.match(/must be integer/g)).toHaveLength(100)
    expect(problem!.message).toMatch(/; 150 more$/)
    expect((await problemOf({ ['x'.repeat(1_000_000)]: 1 }, licence))!.message.length).toBeLessThan(1_000)
  })

  test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'named %s are ordinary members',
    async (name) => {
      const schema = {
        type: 'object',
        required: [name],
        properties: { [name]: { type: 'string' } },
        additionalProperties: false,
      }
      expect(await isValid({}, schema)).toBe(false)
      expect(await isValid({}, { required: [name] })).toBe(false)
      expect(await isValid({ [name]: 1 }, schema)).toBe(false)
      expect(await isValid({ [name]: 'x' }, schema)).toBe(true)
      expect(await isValid({ [name]: 'x' }, { ...schema, required: [], properties: {} })).toBe(false)
    },
  )

  test('named __proto__ are refused at any depth', async () => {
    expect(await isValid(JSON.parse('{"a":[{"__proto__":{"admin":true}}]}'), {})).toBe(false)
    expect(await problemOf({}, JSON.parse('{"required":["a"],"properties":{"__proto__":{}}}'))).toMatchObject(
      {
        type: 'error:CredentialSchemaError:InvalidSchema',
      },
    )
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  test('that are too deep, too many or too long are refused', async () => {
    const deep = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))
    expect(await isValid(deep(32), {})).toBe(true)
    expect(await isValid(deep(33), {})).toBe(false)
    expect(await isValid(deep(100_000), {})).toBe(false)
    expect(await isValid({ a: times(9_998, () => 1) }, {})).toBe(true)
    expect(await isValid({ a: times(9_999, () => 1) }, {})).toBe(false)
    expect(await isValid({ portrait: 'x'.repeat(500_000) }, {})).toBe(true)
    expect(await isValid({ portrait: 'x'.repeat(2_000_000) }, {})).toBe(false)
  })
})

describe('an unusable schema is refused', () => {
  test.each<[string, unknown, string]>([
    ['no object', true, 'not a JSON object'],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, '$schema'],
    ['an unknown type', { properties: { a: { type: 'text' } } }, 'properties.a.type'],
    ['a reference to the network', { $ref: 'http://127.0.0.1:1/schema' }, 'http://127.0.0.1:1/schema'],
    ['a reference to nothing', { $ref: '#/$defs/none' }, '#/$defs/none'],
    ['a malformed reference', { $ref: '#/%zz' }, 'URI'],
    ['a back-reference', { properties: { a: { pattern: '(a)\\1' } } }, '(a)\\1'],
    ['a huge repetition', { pattern: '((a{100}){100}){100}' }, 'repeat'],
    ['a long pattern', { pattern: 'a'.repeat(1_001) }, '1000 characters'],
    ['too many subschemas', { allOf: times(5_000, () => ({})) }, '5000 values'],
    ['too deep', JSON.parse(`${'{"not":'.repeat(65)}{}${'}'.repeat(65)}`), '64 levels'],
  ])('%s', async (_, schema, reason) => {
    const problem = await problemOf({}, schema)
    expect(problem).toMatchObject({ type: 'error:CredentialSchemaError:InvalidSchema', status: 400 })
    expect(problem!.message).toContain(reason)
  })
})

test.each(['toString', 'valueOf'])(
  'a claim named %s is compared, or refused with the reason',
  async (name) => {
    const problem = await problemOf({ [name]: 0 }, { enum: [{}] })
    expect(problem?.status).toBe(422)
  },
)

test('any schema leads to a result or to a problem with a reason', async () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'items',
    'allOf',
    'not',
    '$ref',
    '$id',
    'pattern',
    'enum',
    'required',
    'const',
    '$defs',
    'if',
    'then',
  )
  const value: fc.Memo<unknown> = fc.memo((depth) =>
    fc.oneof(
      fc.constantFrom('#', '#/$defs/a', 'a', 'string', '(', '', 'constructor', -1, 1e300, null, true, [], {}),
      ...(depth > 1
        ? [
            fc.array(value(depth - 1), { maxLength: 3 }),
            fc.dictionary(keyword, value(depth - 1), { maxKeys: 4 }),
          ]
        : []),
    ),
  )
  const schema = fc.dictionary(keyword, value(3), { maxKeys: 5 })
  await fc.assert(
    fc.asyncProperty(schema, fc.jsonValue({ maxDepth: 3 }), async (schema, claims) => {
      const problem = await problemOf(claims, schema)
      expect([undefined, 400, 422]).toContain(problem?.status)
      expect(problem?.message).not.toBe('')
    }),
    { numRuns: 300 },
  )
})
