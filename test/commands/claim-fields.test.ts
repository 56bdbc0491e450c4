/** The properties of a schema as fields that a person fills in. */
import { expect, test } from 'vitest'
import { fieldsOf } from '../../cli/input/claim-fields.ts'
import { readClaims } from '../../cli/input/claims.ts'
import { getTemplate, templateNames } from '../../src/definitions/templates/index.ts'

const fieldOf = (property: unknown, required: string[] = []) =>
  fieldsOf({ type: 'object', properties: { it: property }, required })![0]!

test.each<[string, unknown, string]>([
  ['nothing', {}, 'it: string'],
  ['what is no object', true, 'it: string'],
  ['a type', { type: 'integer' }, 'it: integer'],
  ['several types', { type: ['number', 'boolean', 'null'] }, 'it: number or boolean'],
  ['a format', { type: 'string', format: 'date' }, 'it: string, date'],
  ['values', { enum: ['S', 'M', 3] }, 'it: S, M, 3'],
  ['one value', { const: true }, 'it: true'],
  ['title and description', { title: 'Size', description: 'In cm' }, 'Size (it): string. In cm'],
  [
    'texts with control characters',
    { title: 'a\u001b[2Jb', description: 'c\nd', enum: ['\u009b'] },
    'ab (it): . c d',
  ],
])('a property with %s has a label', (_, property, label) => {
  expect(fieldOf(property).label).toBe(label)
  expect(fieldOf(property, ['it']).label.replace(', required', '')).toBe(label)
})

test('no property is required where a source of claims has others', () => {
  const schema = { type: 'object', properties: { it: {} }, required: ['it'] }
  expect(fieldsOf(schema)![0]).toMatchObject({ label: 'it: string, required', isRequired: true })
  expect(fieldsOf(schema, true)![0]).toMatchObject({ label: 'it: string', isRequired: false })
})

test.each<[unknown, string, unknown]>([
  [{}, '42', '42'],
  [{ type: 'string' }, 'a=b', 'a=b'],
  [{ type: ['string', 'null'] }, 'true', 'true'],
  [{ type: 'integer' }, '42', 42],
  [{ type: 'number' }, '4.2', 4.2],
  [{ type: ['integer', 'boolean'] }, 'false', false],
  [{ type: 'array' }, '["a"]', ['a']],
  [{ type: 'object' }, '{"a":1}', { a: 1 }],
  [{ type: 'string', format: 'date' }, '2001-02-03', '2001-02-03'],
  [{ enum: ['S', 3, null] }, '3', 3],
  [{ enum: ['S', 3, null] }, 'S', 'S'],
  [{ type: 'string', enum: ['3'] }, '3', '3'],
  [{ type: 'boolean', const: true }, 'true', true],
])('of %j, the text %s is the claim %j', (property, text, value) => {
  const field = fieldOf(property)
  expect(field.faultOf(text)).toBeUndefined()
  expect(readClaims({ claim: [field.toClaim(text)!] })).toEqual({ it: value })
})

test.each<[unknown, string, string]>([
  [{ type: 'integer' }, '4.2', 'It is an integer, such as 42.'],
  [{ type: 'integer' }, 'many', 'It is an integer, such as 42.'],
  [{ type: 'number' }, '4,2', 'It is a number, such as 4.2.'],
  [{ type: 'boolean' }, 'yes', 'It is a boolean, true or false.'],
  [{ type: ['integer', 'boolean'] }, '"x"', 'It is an integer, such as 42, or a boolean, true or false.'],
  [{ type: 'array' }, 'a, b', 'It is an array, in JSON, such as ["a", "b"].'],
  [{ type: 'object' }, '[]', 'It is an object, in JSON, such as {"city": "Berlin"}.'],
  [{ type: 'string', format: 'date' }, '3.2.2001', 'A date is written as 2001-02-03.'],
  [{ enum: ['S', 'M'] }, 's', 'It is one of S, M.'],
])('of %j, the text %s is refused: %s', (property, text, fault) => {
  expect(fieldOf(property).faultOf(text)).toBe(fault)
})

test('an empty text leaves a claim out, unless it is required', () => {
  expect(fieldOf({ type: 'integer' }).faultOf('')).toBeUndefined()
  expect(fieldOf({ type: 'integer' }).toClaim('')).toBeUndefined()
  expect(fieldOf({ type: 'integer' }, ['it']).faultOf('')).toBe('This claim is required.')
})

test('a schema without properties has no fields, and the id of the subject is none', () => {
  for (const schema of [
    undefined,
    [],
    {},
    { properties: [] },
    { properties: {} },
    { properties: { id: {} } },
  ])
    expect(fieldsOf(schema)).toBeUndefined()
  expect(fieldsOf({ properties: { id: {}, name: {} } })!.map(({ title }) => title)).toEqual(['name'])
})

test.each(templateNames)('the example of the template %s can be filled in', (name) => {
  const { schema, example } = getTemplate(name)
  const texts = Object.keys(schema.properties).map((each) => {
    const value: unknown = (example as Record<string, unknown>)[each]
    return value === undefined || typeof value === 'string' ? (value ?? '') : JSON.stringify(value)
  })
  const fields = fieldsOf(schema)!
  expect(fields.map(({ faultOf }, index) => faultOf(texts[index]!))).toEqual(fields.map(() => undefined))
  const claim = fields.flatMap(({ toClaim }, index) => toClaim(texts[index]!) ?? [])
  expect(readClaims({ claim })).toEqual(example)
})
