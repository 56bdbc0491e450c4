import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { fromAttributes, toAttributes } from '../../../src/credentials/codecs/claims-preview.ts'

const json = (value: string) => ({ name: 'claim', value, media_type: 'application/json' })

describe('toAttributes', () => {
  test('writes text as it is and everything else as padded URL-safe base64 of JSON', () => {
    expect(
      toAttributes({
        name: 'Alice',
        age: 3,
        student: true,
        none: null,
        empty: '',
        list: ['ÿ?>'],
        nested: { a: 1 },
      }),
    ).toEqual([
      { name: 'name', value: 'Alice' },
      { name: 'age', value: 'Mw==', media_type: 'application/json' },
      { name: 'student', value: 'dHJ1ZQ==', media_type: 'application/json' },
      { name: 'none', value: 'bnVsbA==', media_type: 'application/json' },
      { name: 'empty', value: '' },
      { name: 'list', value: 'WyLDvz8-Il0=', media_type: 'application/json' },
      { name: 'nested', value: 'eyJhIjoxfQ==', media_type: 'application/json' },
    ])
  })

  test('leaves text alone that looks like JSON', () => {
    expect(toAttributes({ claim: '{"a":1}' })).toEqual([{ name: 'claim', value: '{"a":1}' }])
  })

  test('leaves out what JSON has no value for', () => {
    expect(toAttributes({ claim: undefined })).toEqual([])
  })
})

describe('fromAttributes', () => {
  test('reads back what toAttributes wrote, in its order', () => {
    const claims = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true })
    fc.assert(
      fc.property(claims, (written) => {
        const read = fromAttributes(toAttributes(written))
        expect(JSON.stringify(read)).toBe(JSON.stringify(written))
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test.each(['eyJhIjoiw78_PiJ9', 'eyJhIjoiw78/PiJ9', 'WzFd', 'Mw==', 'Mw'])(
    'reads both alphabets, padded or not: %s',
    (value) => {
      expect(fromAttributes([json(value)]).claim).toEqual(JSON.parse(Buffer.from(value, 'base64').toString()))
    },
  )

  test('takes a null media type, which some peers write, as none', () => {
    expect(fromAttributes([{ name: 'claim', value: 'Mw==', media_type: null }])).toEqual({ claim: 'Mw==' })
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'])(
    'makes %s an own member and changes no prototype',
    (name) => {
      for (const value of ['text', { admin: true }]) {
        const claims = Object.fromEntries([[name, value]])
        const read = fromAttributes(toAttributes(claims))
        expect(Object.keys(read)).toEqual([name])
        expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
        expect(JSON.stringify(read)).toBe(JSON.stringify(claims))
        expect(read.admin).toBeUndefined()
        expect(({ ...read } as Record<string, unknown>).admin).toBeUndefined()
      }
      expect(({} as Record<string, unknown>).admin).toBeUndefined()
    },
  )

  test.each([
    [
      'a name given twice',
      [
        { name: 'claim', value: 'a' },
        { name: 'claim', value: 'b' },
      ],
      "'claim' occurs twice",
    ],
    [
      'another media type',
      [{ name: 'claim', value: 'a', media_type: 'image/png' }],
      "media type 'image/png'",
    ],
    ['an empty media type', [{ name: 'claim', value: 'a', media_type: '' }], "'claim'"],
    ['what is not base64', [json('{"a":1}')], "'claim' is not base64 of JSON"],
    ['base64 of what is not JSON', [json('YWJj')], "'claim' is not base64 of JSON"],
    ['base64 of what is not UTF-8', [json('IoAi')], "'claim' is not base64 of JSON"],
    [
      'JSON with a name given twice',
      [json(Buffer.from('{"a":1,"a":2}').toString('base64'))],
      'names a member twice',
    ],
    [
      'JSON nested too deep',
      [json(Buffer.from('['.repeat(9_000) + ']'.repeat(9_000)).toString('base64'))],
      'nested deeper',
    ],
    ['a value that is not text', [{ name: 'claim', value: 3 }], 'attributes.0.value'],
    ['an attribute without a name', [{ value: 'a' }], 'attributes.0.name'],
    ['an object', { claim: 'a' }, 'attributes'],
    [
      'too many attributes',
      Array.from({ length: 1_001 }, (_, n) => ({ name: `${n}`, value: '' })),
      'attributes',
    ],
  ])('refuses %s with a problem that names it', (_, attributes, detail) => {
    let problem: unknown
    try {
      fromAttributes(attributes)
    } catch (error) {
      problem = error
    }
    expect(problem).toBeInstanceOf(Problem)
    expect(problem).toMatchObject({
      type: 'error:CredentialServiceError:InvalidCredentialOffer',
      message: expect.stringContaining(detail),
    })
  })
})
