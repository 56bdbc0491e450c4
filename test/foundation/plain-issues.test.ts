/** Every text of zod is replaced by a plain one, wherever a value is parsed. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Contract } from '../../daemon/http/route.ts'
import { routes } from '../../daemon/routes/index.ts'
import { firstFault, reasons } from '../../src/foundation/faults.ts'
import { reasonOf } from '../../src/foundation/reason.ts'

const ofZod = /Invalid|\bexpected\b|received|Too (?:big|small)|Unrecognized|undefined/

const textOf = (type: z.ZodType, value: unknown) => type.safeParse(value).error!.issues[0]!.message

// prettier-ignore
test.each<[type: z.ZodType, value: unknown, text: string]>([
  [z.string(),                       1,             'must be a text, and is a number'],
  [z.string(),                       undefined,     'is missing: it must be a text'],
  [z.string(),                       null,          'must be a text, and is null'],
  [z.object({}),                     [],            'must be an object, and is an array'],
  [z.record(z.string(), z.string()), undefined,     'is missing: it must be an object'],
  [z.coerce.number(),                'x',           'must be a number'],
  [z.int(),                          1.5,           'must be a whole number'],
  [z.literal('a'),                   'b',           'must be "a"'],
  [z.enum(['a', 'b', 'c']),          'd',           'must be "a", "b" or "c"'],
  [z.string().max(3),                'long',        'must have at most 3 characters'],
  [z.string().min(1),                '',            'must not be empty'],
  [z.array(z.string()).length(1),    [],            'must have exactly 1 entry'],
  [z.number().max(3),                4,             'must be at most 3'],
  [z.number().positive(),            0,             'must be more than 0'],
  [z.number().multipleOf(2),         3,             'must be a multiple of 2'],
  [z.guid(),                         'nope',        'must be a UUID such as 0190ab12-3456-7890-abcd-ef0123456789'],
  [z.iso.datetime(),                 'now',         'must be a date and time such as 2026-11-23T12:00:00Z'],
  [z.url(),                          'ftp//',       'must be an absolute URL such as https://example.com/path'],
  [z.url({ protocol: /^https?$/ }),  'ftp://a.b/',  'must be an absolute http or https URL such as https://example.com/path'],
  [z.url({ protocol: /^https?$/ }),  'http://10.0.0.1:99999/', 'has the port 99999, and the highest port is 65535'],
  [z.string().regex(/^a$/),          'b',           'must match the pattern /^a$/'],
  [z.string().startsWith('did:'),    'x',           'must begin with "did:"'],
  [z.string().endsWith('.'),         'x',           'must end with "."'],
  [z.string().includes('#'),         'x',           'must contain "#"'],
  [z.ipv4(),                         'x',           'must be an IPv4 address'],
  [z.cuid(),                         'x',           'must be of the format cuid'],
  [z.strictObject({}),               { 'a': 1 },    'must not have "a", which is not known here'],
  [z.union([z.string(), z.number()]), true,         'must be a text or a number, and is true or false'],
  [z.union([z.string(), z.number()]), undefined,    'is missing: it must be a text or a number'],
  [z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), {}, 'has none of the forms that are allowed'],
  [z.discriminatedUnion('k', [z.object({ k: z.literal('a') })]), { k: 'b' }, 'must be "a"'],
  [z.record(z.enum(['a']), z.string()), { b: 'x' }, 'is missing: it must be a text'],
  [z.record(z.string().max(1), z.string()), { bb: 'x' }, 'has a name that is not allowed'],
  [z.map(z.string(), z.string()),    new Map([['a', 1]]), 'must be a text, and is a number'],
  [z.never(),                        1,             'must be left out, and is a number'],
  [z.string().refine(() => false),   'x',           'is not allowed'],
])('%#: %j', (type, value, text) => {
  expect(textOf(type, value)).toBe(text)
  expect(textOf(type, value)).not.toMatch(ofZod)
})

const Entry = z.object({
  list: z.union([
    z.object({ id: z.union([z.int().min(0), z.string().regex(/^\d+$/)]) }),
    z.array(z.string()),
  ]),
})

// prettier-ignore
test.each<[value: unknown, fault: string]>([
  [{ list: { id: -1 } },    'list.id: must be at least 0'],
  [{ list: { id: 'x' } },   'list.id: must match the pattern /^\\d+$/'],
  [{ list: { id: null } },  'list.id: must be a number or a text, and is null'],
  [{ list: {} },            'list.id: is missing: it must be a number or a text'],
  [{ list: ['a', 1] },      'list.1: must be a text, and is a number'],
  [{ list: 1 },             'list: must be an object or an array, and is a number'],
])('the fault of an alternative names the member: %j', (value, fault) => {
  const { error } = Entry.safeParse(value)
  expect(firstFault(error!)).toBe(fault)
  expect(reasons(error!)).toBe(fault)
  expect(reasonOf(error)).toBe(fault)
})

const wrong = [{}, [], null, 1, true, 'secret-text', { label: 7 }]

test('no endpoint answers with texts of zod', () => {
  const contracts: readonly Contract[] = routes.map(({ contract }) => contract)
  const texts = contracts.flatMap(({ body, query, headers, path }) =>
    [body, query, headers, ...Object.values(path ?? {})]
      .filter((type) => type !== undefined)
      .flatMap((type) => wrong.map((value) => type.safeParse(withFields(type, value))))
      .flatMap(({ error }) => (error ? [reasons(error)] : [])),
  )
  expect(texts.length).toBeGreaterThan(500)
  for (const text of texts) {
    expect(text).not.toMatch(ofZod)
    expect(text).not.toContain('secret-text')
  }
})

/** An object type also gets members of every other type. A reason may name a member, but no value. */
function withFields(type: z.ZodType, value: unknown): unknown {
  if (!(type instanceof z.ZodObject) || typeof value !== 'string') return value
  return Object.fromEntries(Object.keys(type.shape).map((name) => [name, { member: value }]))
}
