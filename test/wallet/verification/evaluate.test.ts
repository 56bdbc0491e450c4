/** Input evaluation (DIF Presentation Exchange 2.1.1 §8). */
import { describe, expect, test } from 'vitest'
import { toCandidate } from '../../../src/wallet/verification/evaluate.ts'
import { presentSdJwt } from '../../credentials/codecs/_present.ts'
import { issueSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { evaluate, type Candidate } from '../../../src/wallet/verification/evaluate.ts'
import { CreatePresentationDefinition } from '../../../src/wallet/verification/presentation-definition.ts'
import { credential, edKey, vc } from '../../credentials/codecs/_forge.ts'
import { audience, issuer, nonce, now, schemaId } from '../../credentials/codecs/_people.ts'
import { content, good, issued, reissued } from '../../credentials/codecs/sd-jwt/_forged.ts'
import { licence as sdJwtLicence } from './_sd-jwt-rows.ts'

const licence: Candidate = {
  id: 'licence',
  formats: ['jwt_vc', 'jwt'],
  algorithms: { alg: 'ES256K' },
  claims: { name: 'Alice', class: 3, tags: ['a', 'b'], nothing: null, address: { city: 'Zürich' } },
}
const diploma: Candidate = {
  id: 'diploma',
  formats: ['jwt_vc', 'jwt'],
  algorithms: { alg: 'EdDSA' },
  claims: { name: 'Bob', degree: 'MSc' },
}

/** The ids of those of the two that satisfy one input descriptor. */
async function matching(
  fields: unknown[],
  more: object = {},
  whole: object = {},
  candidates = [licence, diploma],
) {
  const definition = CreatePresentationDefinition.parse({
    input_descriptors: [{ id: 'd', constraints: { fields }, ...more }],
    ...whole,
  })
  const [match] = await evaluate(definition, candidates)
  return match!.credentials
}

describe('fields', () => {
  test.each<[string, unknown[], string[]]>([
    ['none', [], ['licence', 'diploma']],
    ['a path that both have', [{ path: ['$.name'] }], ['licence', 'diploma']],
    ['a path that one has', [{ path: ['$.class'] }], ['licence']],
    ['a path without a match', [{ path: ['$.x'] }], []],
    ['a value that is null is there', [{ path: ['$.nothing'] }], ['licence']],
    ['the second of two paths', [{ path: ['$.x', '$.degree'] }], ['diploma']],
    ['no path', [{}], []],
    ['no path, optional', [{ optional: true }], ['licence', 'diploma']],
    ['all of several', [{ path: ['$.name'] }, { path: ['$.class'] }], ['licence']],
    ['a path that is optional', [{ path: ['$.class'], optional: true }], ['licence', 'diploma']],
    ['a value that fits', [{ path: ['$.name'], filter: { type: 'string', const: 'Bob' } }], ['diploma']],
    ['a value that fits by a pattern', [{ path: ['$.name'], filter: { pattern: '^A' } }], ['licence']],
    [
      'a pattern that takes other engines exponential time',
      [{ path: ['$.name'], filter: { pattern: '^(([a-z])+.)+[A-Z]$' } }],
      [],
    ],
    [
      'a value of a type',
      [{ path: ['$.class', '$.degree'], filter: { type: 'integer', minimum: 3 } }],
      ['licence'],
    ],
    [
      'the value of the second path, where the first does not fit',
      [{ path: ['$.name', '$.degree'], filter: { const: 'MSc' } }],
      ['diploma'],
    ],
    ['the first match of a path alone', [{ path: ['$.tags[*]'], filter: { const: 'b' } }], []],
    [
      'a list that contains',
      [{ path: ['$.tags'], filter: { type: 'array', contains: { const: 'b' } } }],
      ['licence'],
    ],
    ['an object', [{ path: ['$.address'], filter: { type: 'object', required: ['city'] } }], ['licence']],
    [
      'a property of Object.prototype',
      [{ path: ['$.address'], filter: { type: 'object', required: ['toString'] } }],
      [],
    ],
    [
      'an optional value that does not fit',
      [{ path: ['$.class'], optional: true, filter: { const: 4 } }],
      ['diploma'],
    ],
    [
      'a filter of draft 7',
      [{ path: ['$.name'], filter: { $schema: 'http://json-schema.org/draft-07/schema#', const: 'Bob' } }],
      ['diploma'],
    ],
  ])('%s', async (_, fields, expected) => {
    expect(await matching(fields)).toEqual(expected)
  })
})

describe('formats', () => {
  test.each<[string, object, object, string[]]>([
    ['of the definition', {}, { format: { jwt_vc: { alg: ['EdDSA'] } } }, ['diploma']],
    ['of the descriptor', { format: { jwt: { alg: ['ES256K'] } } }, {}, ['licence']],
    [
      'of the descriptor before those of the definition',
      { format: { jwt: { alg: ['ES256K'] } } },
      { format: { jwt_vc: { alg: ['EdDSA'] } } },
      ['licence'],
    ],
    ['two algorithms', { format: { jwt_vc: { alg: ['ES256K', 'EdDSA'] } } }, {}, ['licence', 'diploma']],
    ['no algorithm', { format: { jwt_vc: { alg: [] } } }, {}, []],
    ['another format', { format: { ldp: { proof_type: ['x'] } } }, {}, []],
    ['a format that is not known', { format: { mso_mdoc: { alg: ['ES256'] } } }, {}, []],
    ['a name of every object', { format: { toString: { alg: ['EdDSA'] } } }, {}, []],
    ['null', { format: null }, { format: null }, ['licence', 'diploma']],
  ])('%s', async (_, more, whole, expected) => {
    expect(await matching([], more, whole)).toEqual(expected)
  })
})

test('each descriptor has its own matches, in the order of the definition', async () => {
  const constraints = (path: string) => ({ fields: [{ path: [path] }] })
  const definition = CreatePresentationDefinition.parse({
    input_descriptors: [
      { id: 'degree', constraints: constraints('$.degree') },
      { id: 'name', constraints: constraints('$.name') },
      { id: 'x', constraints: constraints('$.x') },
    ],
  })
  expect(await evaluate(definition, [licence, diploma])).toEqual([
    { inputDescriptorId: 'degree', credentials: ['diploma'] },
    { inputDescriptorId: 'name', credentials: ['licence', 'diploma'] },
    { inputDescriptorId: 'x', credentials: [] },
  ])
  expect(await evaluate(definition, [])).toEqual(
    ['degree', 'name', 'x'].map((inputDescriptorId) => ({ inputDescriptorId, credentials: [] })),
  )
})

test('an evaluation is aborted at the time limit', async () => {
  const definition = CreatePresentationDefinition.parse({
    input_descriptors: [{ id: 'd', constraints: { fields: [{ path: ['$'] }] } }],
  })
  await expect(evaluate(definition, [licence], 0)).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('takes too long'),
  })
})

describe('a JWT VC', () => {
  test.each([
    ['$.vc.credentialSubject.familyName', 'Wonderland'],
    ['$.credentialSubject.familyName', 'Wonderland'],
    ['$.credentialSubject.address.city', 'Zürich'],
    ['$.iss', issuer.did],
    ['$.issuer.id', issuer.did],
    ['$.type[0]', 'VerifiableCredential'],
    ['$.vc.credentialSchema[0].id', schemaId],
    ['$..familyName', 'Wonderland'],
  ])('has the value at %s', async (path, expected) => {
    const candidate = toCandidate('c', credential)
    expect(await matching([{ path: [path], filter: { const: expected } }], {}, {}, [candidate])).toEqual([
      'c',
    ])
    expect(await matching([{ path: [path], filter: { const: 'x' } }], {}, {}, [candidate])).toEqual([])
  })

  test('has the algorithm of its header', () => {
    expect([
      toCandidate('a', credential).algorithms,
      toCandidate(
        'b',
        vc(() => {}, edKey),
      ).algorithms,
    ]).toEqual([{ alg: 'ES256K' }, { alg: 'EdDSA' }])
    expect(() => toCandidate('c', 'no token')).toThrow(/three parts/)
  })

  test('with too many values is refused', () => {
    const many = (count: number) =>
      vc((payload) => (payload['vc'].credentialSubject.many = Array.from({ length: count }, () => 1)))
    expect(toCandidate('c', many(2_000)).id).toBe('c')
    expect(() => toCandidate('c', many(2_500))).toThrow(/more than 2500 values/)
  })
})

describe('an SD-JWT', () => {
  test.each([
    ['$.familyName', 'Wonderland'],
    ['$.address.city', 'Zürich'],
    ['$.vct', schemaId],
    ['$.iss', issuer.longForm],
    ["$['drivingClass']", 3],
    ['$..city', 'Zürich'],
  ])('has the value at %s', async (path, expected) => {
    const candidate = toCandidate('c', sdJwtLicence)
    expect(await matching([{ path: [path], filter: { const: expected } }], {}, {}, [candidate])).toEqual([
      'c',
    ])
    expect(await matching([{ path: [path], filter: { const: 'x' } }], {}, {}, [candidate])).toEqual([])
  })

  test.each([
    ['$.vc.credentialSubject.familyName'],
    ['$.credentialSubject.familyName'],
    ['$._sd'],
    ['$._sd_alg'],
    ['$..["..."]'],
  ])('has nothing at %s', async (path) => {
    expect(await matching([{ path: [path] }], {}, {}, [toCandidate('c', sdJwtLicence)])).toEqual([])
  })

  test('has the values at the paths of either format', async () => {
    const path = ['$.vc.credentialSubject.familyName', '$.familyName']
    expect(
      await matching([{ path }], {}, {}, [toCandidate('a', credential), toCandidate('b', sdJwtLicence)]),
    ).toEqual(['a', 'b'])
  })

  test('has only its disclosed claims', async () => {
    const presented = presentSdJwt({ sdJwt: sdJwtLicence, claims: { familyName: '' }, audience, nonce, now })
    expect(await matching([{ path: ['$.familyName'] }], {}, {}, [toCandidate('c', presented)])).toEqual(['c'])
    expect(await matching([{ path: ['$.drivingClass'] }], {}, {}, [toCandidate('c', presented)])).toEqual([])
    const elements = presentSdJwt({
      sdJwt: issued,
      claims: { list: { 1: '' } },
      audience,
      nonce,
      now,
      holderKey: generateKey('Ed25519'),
    })
    expect(
      await matching([{ path: ['$.list[0]'], filter: { const: 'b' } }], {}, {}, [toCandidate('c', elements)]),
    ).toEqual(['c'])
  })

  test.each<[string, object, boolean]>([
    ['its format', { 'vc+sd-jwt': {} }, true],
    ['its format as it is called today', { 'dc+sd-jwt': {} }, true],
    ['the algorithm of its issuer', { 'vc+sd-jwt': { 'sd-jwt_alg_values': ['ES256', 'EdDSA'] } }, true],
    ['another algorithm', { 'vc+sd-jwt': { 'sd-jwt_alg_values': ['ES256'] } }, false],
    ['the algorithm of its holder', { 'dc+sd-jwt': { 'kb-jwt_alg_values': ['EdDSA'] } }, true],
    [
      'another algorithm of its holder',
      { 'dc+sd-jwt': { 'sd-jwt_alg_values': ['EdDSA'], 'kb-jwt_alg_values': ['ES256K'] } },
      false,
    ],
    ['no algorithm', { 'vc+sd-jwt': { 'sd-jwt_alg_values': [] } }, false],
    ['terms that are null', { 'vc+sd-jwt': { 'sd-jwt_alg_values': null } }, true],
    ['another format', { jwt_vc: { alg: ['EdDSA'] }, jwt: { alg: ['EdDSA'] } }, false],
    ['one of two formats', { jwt_vc: { alg: ['ES256K'] }, 'vc+sd-jwt': {} }, true],
  ])('asked for by %s', async (_, format, expected) => {
    for (const token of [issued, good]) {
      expect(await matching([], { format }, {}, [toCandidate('c', token)])).toEqual(expected ? ['c'] : [])
    }
    expect(await matching([], { format: { 'vc+sd-jwt': {}, 'dc+sd-jwt': {} } }, {}, [licence])).toEqual([])
  })

  test('without a holder key matches any holder algorithm; with a holder key that cannot sign, none', async () => {
    const unbound = toCandidate('unbound', issueSdJwt({ ...content, holderKey: undefined }))
    const odd = toCandidate(
      'odd',
      reissued((token) => (token.cnf.jwk = toPublic(generateKey('X25519')))),
    )
    const format = { 'dc+sd-jwt': { 'kb-jwt_alg_values': ['ES256K', 'EdDSA', 'ES256'] } }
    expect(await matching([], { format }, {}, [unbound, odd])).toEqual(['unbound'])
  })

  test('that is unreadable or has too many values is refused', () => {
    expect(() => toCandidate('c', `${issued}${issued.split('~')[1]}~`)).toThrow(/occurs twice/)
    const many = issueSdJwt({ ...content, claims: { many: Array.from({ length: 2_500 }, () => 1) } })
    expect(() => toCandidate('c', many)).toThrow(/more than 2500 values/)
  })
})
