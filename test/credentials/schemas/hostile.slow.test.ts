/** Hostile schemas must not block the event loop, exhaust the memory, or prevent checks of other schemas. */
import { describe, expect, test } from 'vitest'
import { checkClaims } from '../../../src/credentials/schemas/claims.ts'

const isRefused = { type: 'error:CredentialSchemaError:CredentialSchemaValidationError', status: 422 }
const tooExpensive =
  'The credential schema validation failed: checking these claims against it takes too much time or memory; shorten the claims or simplify the schema'
const steps = (make: (next: string) => object) => ({
  ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`s${i}`, make(`s${i + 1}`)])),
  s60: { type: 'string' },
})
const doubling = (prefix: string, keyword = '$ref') =>
  steps((next) => ({ anyOf: [{ [keyword]: prefix + next }, { [keyword]: prefix + next }] }))
const hostile = { $defs: doubling('#/$defs/'), $ref: '#/$defs/s0' }

/** Each task needs more than a minute, or more memory than the machine has. */
describe.concurrent('the check is aborted', () => {
  test.each<[string, object, unknown]>([
    [
      'for references that double below an unknown keyword',
      { hidden: doubling('#/hidden/'), $ref: '#/hidden/s0' },
      {},
    ],
    [
      'for dynamic references that double',
      {
        $defs: Object.fromEntries(
          Object.entries(doubling('#', '$dynamicRef')).map(([name, step]) => [
            name,
            { $dynamicAnchor: name, ...step },
          ]),
        ),
        $ref: '#s0',
      },
      {},
    ],
    ['for a reference to itself', { $ref: '#' }, {}],
    ['for a reference to itself in a list', { allOf: [{ $ref: '#' }, { $ref: '#' }] }, {}],
    [
      'for a recursion along the claims',
      {
        anyOf: [
          { type: 'integer' },
          { properties: { a: { $ref: '#' } } },
          { properties: { a: { $ref: '#' } } },
        ],
        additionalProperties: { allOf: [{ $ref: '#' }, { $ref: '#' }] },
      },
      JSON.parse('{"a":'.repeat(31) + '"x"' + '}'.repeat(31)),
    ],
    [
      'for two million violations',
      { items: { allOf: Array.from({ length: 250 }, () => ({ type: 'string' })) } },
      Array.from({ length: 9_000 }, () => 1),
    ],
  ])('%s', async (_, schema, claims) => {
    await expect(checkClaims(claims, schema)).rejects.toMatchObject({ ...isRefused, message: tooExpensive })
  })
})

test('the event loop and small schemas continue meanwhile, and checks behind it get their own answers', async () => {
  let isRunning = true
  const aborted = checkClaims({}, hostile)
    .catch((error: unknown) => error)
    .finally(() => (isRunning = false))
  const answers = Array.from({ length: 20 }, (_, i) =>
    checkClaims('x', { anyOf: [{ const: i }] }).catch((error: Error) => error.message),
  )
  for (let i = 0; i < 20; i++) {
    await expect(checkClaims({ i }, { properties: { i: { type: 'string' } } })).rejects.toThrow('$.i')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  expect(isRunning).toBe(true)
  expect(await aborted).toMatchObject({ ...isRefused, message: tooExpensive })
  for (const [i, answer] of (await Promise.all(answers)).entries())
    expect(answer).toContain(`$: must be ${i};`)
})

test('a flood of checks is refused with 503', async () => {
  const checks = Array.from({ length: 250 }, () => checkClaims(1, { not: { type: 'string' } }))
  const results = await Promise.allSettled(checks)
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const { reason } of refused)
    expect(reason).toMatchObject({ type: 'error:ServiceUnavailable', status: 503 })
  expect(results.length - refused.length).toBeGreaterThanOrEqual(200)
})

test.each([
  '^(a+)+$',
  '^(a|aa)+$',
  '(x+x+)+y',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.*)*(.*)*=',
  '^(a?){25}a{25}$',
])('the pattern %s takes linear time', async (pattern) => {
  const checked = checkClaims({ a: `${'a'.repeat(5_000)}!` }, { properties: { a: { pattern } } })
  await expect(checked).rejects.toThrow('$.a: must match pattern')
})
