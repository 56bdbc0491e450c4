/** Random queries of random credentials have the answers of the package `dcql`. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DcqlCredential } from '../../../src/credentials/dcql/match.ts'
import { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { selectCredentials } from './_select.ts'
import { askPeer, expectAsPeer } from './_peer.ts'

/** Without null, empty arrays and arrays of several types: see below. */
const scalar = fc.oneof(fc.constantFrom('a', 'b', ''), fc.integer({ min: 0, max: 2 }), fc.boolean())
const arrayOf = <Element>(element: fc.Arbitrary<Element>) => fc.array(element, { minLength: 1, maxLength: 3 })
const present = { requiredKeys: [], noNullPrototype: true }
const object = fc.record({ x: scalar, y: scalar }, present)
const orScalar = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: scalar })
const claims = fc.record(
  {
    x: scalar,
    y: orScalar(object),
    o: orScalar(object),
    l: orScalar(arrayOf(scalar)),
    m: orScalar(arrayOf(object)),
  },
  present,
)
const formats = ['dc+sd-jwt', 'jwt_vc_json'] as const
const type = fc.constantFrom('urn:a', 'urn:b')

const credential: fc.Arbitrary<DcqlCredential> = fc.record({
  format: fc.constantFrom(...formats),
  types: type.map((each) => [each]),
  claims,
  isBound: fc.boolean(),
})

const path = fc.constantFrom(
  ['x'],
  ['y'],
  ['y', 'x'],
  ['o'],
  ['o', 'x'],
  ['o', 'y'],
  ['l'],
  ['l', 0],
  ['l', 1],
  ['l', null],
  ['m', 0],
  ['m', 0, 'x'],
  ['m', 2, 'y'],
  ['m', null, 'x'],
  ['m', null],
  ['x', 'x'],
  ['x', 0],
  ['x', null],
)

const credentialQuery = (id: string) =>
  fc
    .record({
      format: fc.constantFrom(...formats),
      accepted: fc.uniqueArray(type, { minLength: 1, maxLength: 2 }),
      binding: fc.option(fc.boolean(), { nil: undefined }),
      multiple: fc.option(fc.boolean(), { nil: undefined }),
      claims: fc.uniqueArray(
        fc.record({
          path,
          values: fc.option(fc.array(scalar, { minLength: 1, maxLength: 2 }), { nil: undefined }),
        }),
        { maxLength: 4, selector: ({ path: each }) => JSON.stringify(each) },
      ),
      sets: fc.option(
        fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        {
          nil: undefined,
        },
      ),
    })
    .map(({ format, accepted, binding, multiple, claims: asked, sets }) => ({
      id,
      format,
      meta:
        format === 'dc+sd-jwt' ? { vct_values: accepted } : { type_values: accepted.map((each) => [each]) },
      ...(binding !== undefined && { require_cryptographic_holder_binding: binding }),
      ...(multiple !== undefined && { multiple }),
      ...(asked.length > 0 && {
        claims: asked.map(({ path: each, values }, index) => ({
          id: `c${index}`,
          path: each,
          ...(values && { values }),
        })),
      }),
      ...(asked.length > 0 &&
        sets && {
          claim_sets: sets.map((set) => [...new Set(set.map((index) => `c${index % asked.length}`))]),
        }),
    }))

const ids = ['a', 'b', 'c']
const query = fc
  .record({
    credentials: fc.tuple(...ids.map(credentialQuery)),
    count: fc.integer({ min: 1, max: 3 }),
    sets: fc.option(
      fc.array(
        fc.record({
          options: fc.array(fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 2 }), {
            minLength: 1,
            maxLength: 3,
          }),
          required: fc.option(fc.boolean(), { nil: undefined }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      { nil: undefined },
    ),
  })
  .map(({ credentials, count, sets }) =>
    DcqlQuery.parse({
      credentials: credentials.slice(0, count),
      ...(sets && {
        credential_sets: sets.map(({ options, required }) => ({
          options: options.map((option) => [...new Set(option.map((index) => ids[index % count]!))]),
          ...(required !== undefined && { required }),
        })),
      }),
    }),
  )

test('random queries have the answers of the package dcql', () => {
  const answers = { complete: 0, none: 0 }
  fc.assert(
    fc.property(query, fc.array(credential, { maxLength: 4 }), (asked, held) => {
      expectAsPeer(asked, held)
      answers[selectCredentials(asked, held).answer ? 'complete' : 'none'] += 1
    }),
    { numRuns: 500 },
  )
  // Both kinds occur.
  expect(Math.min(...Object.values(answers))).toBeGreaterThan(10)
})

/** The answers of OpenID4VP §7.1.1, and those of the package. */
test.each<[string, object, (string | number | null)[], { own: boolean; peer: boolean }]>([
  ['a member that is null exists', { x: null }, ['x'], { own: true, peer: false }],
  ['an empty array has no elements to select', { l: [] }, ['l', null], { own: false, peer: true }],
  [
    'an element that is not an object ends the processing',
    { m: [{ x: 1 }, 1] },
    ['m', null, 'x'],
    { own: false, peer: true },
  ],
])('a known difference: %s', (_, content, asked, expected) => {
  const held: DcqlCredential[] = [
    { format: 'dc+sd-jwt', types: ['urn:a'], claims: content as never, isBound: true },
  ]
  const parsed = DcqlQuery.parse({
    credentials: [
      { id: 'a', format: 'dc+sd-jwt', meta: { vct_values: ['urn:a'] }, claims: [{ path: asked }] },
    ],
  })
  const own = selectCredentials(parsed, held).answer !== undefined
  expect({ own, peer: askPeer(parsed, held).can_be_satisfied }).toEqual(expected)
})
