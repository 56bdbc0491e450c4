/** The checks of the verification API, row by row: every success and every failure. */
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { anyCredential, issueSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { VerificationError } from '../../../src/credentials/codecs/verification-error.ts'
import { parameterOf, type VcVerificationName } from '../../../src/wallet/verification/model.ts'
import { credential, vc } from '../../credentials/codecs/_forge.ts'
import { issuer, schemaId } from '../../credentials/codecs/_people.ts'
import {
  content as sdJwtContent,
  forgeries,
  good,
  reissued,
} from '../../credentials/codecs/sd-jwt/_forged.ts'
import { check, schema } from './_checks.ts'
import { jwtRows, withStatus } from './_jwt-rows.ts'
import { did } from './_parameters.ts'
import { licence, sdJwtRows, withStatus as sdJwtWithStatus } from './_sd-jwt-rows.ts'

const formats = [
  ['JWT', jwtRows],
  ['SD-JWT', sdJwtRows],
] as const

describe.each(Object.entries(parameterOf))('%s', (verification) => {
  const cases = formats.flatMap(([format, rows]) =>
    rows.flatMap(([name, what, expected, token, parameter]) =>
      name === verification ? [[format, what, expected, token, parameter] as const] : [],
    ),
  )
  test.each(cases)('%s, %s: %s', async (_format, _what, expected, token, parameter) => {
    expect(await check(token, verification as VcVerificationName, parameter)).toBe(expected)
  })
})

describe('a comparison with an unreadable credential is refused as a whole', () => {
  test.each([
    ['no token', 'no token'],
    ['two parts', credential.split('.').slice(0, 2).join('.')],
    ['an SD-JWT without a JWT', '~'],
  ])('%s', async (_, jwt) => {
    const problem = {
      type: 'BadRequest',
      status: 400,
      title: 'VC Verification Failed',
      message: expect.stringMatching(/^0\.credential: Unable to decode/),
    }
    await expect(check(jwt, 'IssuerIdentification', did(issuer.did))).rejects.toMatchObject(problem)
    await expect(check(jwt, 'AudienceCheck', did(issuer.did))).rejects.toMatchObject(problem)
  })
})

describe('a temporary failure is not a verification failure', () => {
  const outage = new Problem('error:ServiceUnavailable', 'later')
  const away = async () => Promise.reject(outage)
  test.each([
    ['SignatureVerification', credential, { resolve: away }],
    ['IntegrityOfClaims', credential, { resolve: away }],
    ['SchemaCheck', credential, { getSchema: away }],
    ['SubjectVerification', credential, { getSchema: away }],
    ['RevocationCheck', withStatus, { checkStatus: away }],
    ['SignatureVerification', good, { resolve: away }],
    ['SubjectVerification', licence, { getSchema: away }],
    ['RevocationCheck', sdJwtWithStatus, { checkStatus: away }],
  ] as const)('%s', async (verification, jwt, other) => {
    await expect(check(jwt, verification, undefined, other)).rejects.toBe(outage)
  })
})

test('an internal error is not a verification result', async () => {
  const bug = new TypeError('bug')
  await expect(
    check(credential, 'SchemaCheck', undefined, { getSchema: () => Promise.reject(bug) }),
  ).rejects.toBe(bug)
})

test('a revoked credential fails, and every status entry is checked', async () => {
  const status = { type: 'StatusList2021Entry', statusPurpose: 'Revocation' }
  const jwt = vc(
    (payload) => (payload['vc'].credentialStatus = [status, { ...status, statusPurpose: 'Suspension' }]),
  )
  const asked: unknown[] = []
  const checkStatus = async ({ statusPurpose }: { statusPurpose?: string | undefined }) => {
    asked.push(statusPurpose)
    if (statusPurpose === 'Suspension') throw new VerificationError('status', 'suspended')
  }
  expect(await check(jwt, 'RevocationCheck', undefined, { checkStatus })).toBe(false)
  expect(asked).toEqual(['Revocation', 'Suspension'])
})

test('an invalid schema fails its own check and the check of the subject', async () => {
  for (const broken of [
    { ...schema, type: 'objekt' },
    'text',
    { ...schema, properties: { a: { pattern: '(' } } },
  ]) {
    const getSchema = async () => broken
    expect(await check(credential, 'SchemaCheck', undefined, { getSchema })).toBe(false)
    expect(await check(credential, 'SubjectVerification', undefined, { getSchema })).toBe(false)
  }
})

test('a subject may match the schema with the id that the issuer added', async () => {
  const getSchema = async () => ({
    ...schema,
    properties: { ...schema.properties, id: { type: 'string' } },
    required: ['id'],
  })
  expect(await check(credential, 'SubjectVerification', undefined, { getSchema })).toBe(true)
})

describe('an SD-JWT that is not trustworthy', () => {
  // The other checks concern the request, dates, the status, or JWTs.
  const codes = [
    'malformed',
    'too-large',
    'critical-header',
    'algorithm',
    'signature',
    'kid-not-bound',
    'holder-binding',
  ]
  const rows = forgeries.filter(([, failure, , changes]) => codes.includes(failure) && changes === undefined)
  test.each(rows.filter(([name]) => !/^no (key binding|separator)/.test(name)))(
    '%s is noticed',
    async (_name, _failure, text) => {
      expect(await check(text, 'IntegrityOfClaims')).toBe(false)
      expect(await check(text, 'SignatureVerification')).toBe(false)
    },
  )
})

test('every status of an SD-JWT is checked, including unsupported types', async () => {
  const asked: unknown[] = []
  const checkStatus = async ({ type }: { type: string }) => {
    asked.push(type)
    if (type === 'status') throw new VerificationError('status', 'unknown')
  }
  expect(await check(sdJwtWithStatus, 'RevocationCheck', undefined, { checkStatus })).toBe(true)
  const both = reissued((token) =>
    Object.assign(token, { credentialStatus: { type: 'A' }, status: { status_list: {} } }),
  )
  expect(await check(both, 'RevocationCheck', undefined, { checkStatus })).toBe(false)
  expect(asked).toEqual(['StatusList2021Entry', 'A', 'status'])
})

test('the general type of SD-JWTs has no schema, and is not fetched', async () => {
  const asked: string[] = []
  const getSchema = async (url: string) => {
    asked.push(url)
    return schema
  }
  expect(await check(licence, 'SchemaCheck', undefined, { getSchema })).toBe(true)
  expect(
    await check(issueSdJwt({ ...sdJwtContent, vct: anyCredential }), 'SchemaCheck', undefined, { getSchema }),
  ).toBe(false)
  expect(asked).toEqual([schemaId])
})

test('a schema may describe the claims of an SD-JWT, or its whole payload', async () => {
  const whole = {
    type: 'object',
    required: ['iss', 'vct', 'familyName'],
    properties: { vct: { const: schemaId } },
  }
  for (const [about, expected] of [
    [whole, true],
    [{ ...whole, properties: { vct: { const: 'x' } } }, false],
    [{ ...schema, required: ['_sd'] }, false],
  ] as const) {
    expect(await check(licence, 'SubjectVerification', undefined, { getSchema: async () => about })).toBe(
      expected,
    )
  }
})
