/**
 * `/verification/credential` over HTTP: shapes, parameters, limits. Results of the checks:
 * test/wallet/verification.
 */
import { describe, expect, test } from 'vitest'
import { parameterOf } from '../../../src/wallet/verification/model.ts'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { connect, issue, newDid, presentationIn, startPair, publishSchema } from '../../support/tenants.ts'
import { credential, vc } from '../../credentials/codecs/_forge.ts'
import { issuer } from '../../credentials/codecs/_people.ts'
import { askSdJwt, issueSdJwtTo } from '../../flows/_sd-jwt.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())
const apiKey = (await agent.newTenant()).apiKey

async function post(body: unknown) {
  const reply = await ask(agent, 'POST /verification/credential', { body, apiKey })
  return { status: reply.status, body: reply.body }
}
const asking = (...verifications: unknown[]) => [{ credential, verifications }]
const didParameter = { parameterType: 'DidParameter', did: issuer.did }
const dateParameter = { parameterType: 'DateTimeParameter', dateTime: '2023-11-14T23:00:00Z' }

test('results come in the order of the request, credential by credential', async () => {
  const verifications = [
    { verification: 'ExpirationCheck', parameter: dateParameter },
    { verification: 'SignatureVerification' },
    { verification: 'IssuerIdentification', parameter: didParameter },
  ]
  const { status, body } = await post([
    { credential, verifications },
    { credential: 'no token', verifications: [{ verification: 'SemanticCheckOfClaims', parameter: null }] },
  ])
  expect({ status, body }).toEqual({
    status: 200,
    body: [
      {
        credential,
        result: [
          { verification: 'ExpirationCheck', success: true },
          // The issuer's DID is not published on this ledger.
          { verification: 'SignatureVerification', success: false, detail: expect.any(String) },
          { verification: 'IssuerIdentification', success: true },
        ],
      },
      {
        credential: 'no token',
        result: [
          {
            verification: 'SemanticCheckOfClaims',
            success: false,
            detail: expect.stringContaining('A compact JWS has three parts, not 1'),
          },
        ],
      },
    ],
  })
})

test.each([[undefined], [null], [[]]])(
  'without verifications (%j), all checks that need no DID run',
  async (verifications) => {
    const { status, body } = await post([{ credential, verifications }])
    expect(status).toBe(200)
    const names = body[0].result.map(({ verification }: { verification: string }) => verification)
    const expected = Object.entries(parameterOf).flatMap(([name, parameter]) =>
      parameter === 'DidParameter' ? [] : [name],
    )
    expect(names).toEqual(expected)
    // It expired in 2023.
    expect(body[0].result).toContainEqual({
      verification: 'ExpirationCheck',
      success: false,
      detail: expect.stringMatching(/^Valid until 2023-/),
    })
  },
)

test('no credentials have no results', async () => {
  expect(await post([])).toEqual({ status: 200, body: [] })
})

test.each(['2022-03-10T12:00:00Z', '2022-03-10T12:00Z', '2022-03-10T12:00:00.123456+02:00'])(
  '%s is a valid time',
  async (dateTime) => {
    const parameter = { parameterType: 'DateTimeParameter', dateTime }
    const { status, body } = await post(asking({ verification: 'NotBeforeCheck', parameter }))
    expect({ status, result: body[0].result }).toEqual({
      status: 200,
      result: [{ verification: 'NotBeforeCheck', success: false, detail: expect.any(String) }],
    })
  },
)

describe.each(Object.entries(parameterOf))('%s', (verification, needed) => {
  const right = { DidParameter: didParameter, DateTimeParameter: dateParameter }
  const wrong = [undefined, null, didParameter, dateParameter].filter(
    (given) => given?.parameterType !== needed,
  )

  test('is reported with the parameter that it needs', async () => {
    const { status, body } = await post(asking({ verification, parameter: needed && right[needed] }))
    expect(status).toBe(200)
    expect(body[0].result).toMatchObject([{ verification, success: expect.any(Boolean) }])
  })

  test.each(
    wrong.map((parameter) => [
      parameter?.parameterType ?? (parameter === null ? 'null' : 'nothing'),
      parameter,
    ]),
  )('is refused with %s', async (_, parameter) => {
    const { status, body } = await post(asking({ verification: 'SchemaCheck' }, { verification, parameter }))
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'error:RequestBodyDecodingFailure' })
    expect(body.detail).toMatch(
      needed === undefined
        ? /^0\.verifications\.1\.parameter: .*has no parameter/
        : /^0\.verifications\.1\.parameter: .*needs/,
    )
  })
})

describe('is refused with 400, naming the field', () => {
  const times = (length: number, value: object) => Array.from({ length }, () => value)
  const expiring = (parameter: object) => asking({ verification: 'ExpirationCheck', parameter })
  const audience = (parameter: object) => asking({ verification: 'AudienceCheck', parameter })

  test.each([
    ['an object', {}, /^body: /],
    ['nothing', '', /^body: /],
    ['no JSON', '[', /^body: /],
    ['no credential', [{ verifications: [] }], /^0\.credential: /],
    ['an empty credential', [{ credential: '' }], /^0\.credential: /],
    ['a credential that is not a text', [{ credential: {} }], /^0\.credential: /],
    ['an unknown check', asking({ verification: 'Everything' }), /^0\.verifications\.0\.verification: /],
    ['a check without a name', asking({}), /^0\.verifications\.0\.verification: /],
    ['an unknown type of parameter', expiring({ parameterType: 'X' }), /^0\.verifications\.0\.parameter/],
    ['a parameter without a type', audience({ did: issuer.did }), /^0\.verifications\.0\.parameter/],
    ['no DID', audience({ parameterType: 'DidParameter' }), /parameter\.did: /],
    ['no instant', expiring({ ...dateParameter, dateTime: 'tomorrow' }), /parameter\.dateTime: /],
    [
      'an invalid day',
      expiring({ ...dateParameter, dateTime: '2022-02-30T12:00:00Z' }),
      /parameter\.dateTime: /,
    ],
    ['too many checks', asking(...times(21, { verification: 'SchemaCheck' })), /^0\.verifications: /],
    ['too many credentials', times(101, { credential: 'x' }), /^body: /],
  ])('%s', async (_, sent, detail) => {
    const { status, body } = await post(sent)
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'error:RequestBodyDecodingFailure' })
    expect(body.detail).toMatch(detail)
  })
})

test.each(['did:wrong', 'https://issuer.example'])(
  'an iss of %s is a result, and the other credentials have theirs',
  async (iss) => {
    const verifications = [
      { verification: 'IssuerIdentification', parameter: didParameter },
      { verification: 'SemanticCheckOfClaims' },
    ]
    const bad = vc((payload) => (payload['iss'] = payload['vc'].issuer = iss))
    const { status, body } = await post(
      [bad, credential].map((each) => ({ credential: each, verifications })),
    )
    const successes = body.map(({ result }: { result: { success: boolean }[] }) =>
      result.map(({ success }) => success),
    )
    expect({ status, successes }).toEqual({
      status: 200,
      successes: [
        [false, false],
        [true, true],
      ],
    })
  },
)

test('a comparison with a token without a payload is refused like the Cloud Agent does, and the refusal names the token', async () => {
  const verifications = [{ verification: 'AudienceCheck', parameter: didParameter }]
  const { status, body } = await post(
    [credential, 'no token'].map((each) => ({ credential: each, verifications })),
  )
  expect({ status, body }).toMatchObject({
    status: 400,
    body: {
      type: 'BadRequest',
      title: 'VC Verification Failed',
      detail: expect.stringMatching(/^1\.credential: Unable to decode JWT: /),
    },
  })
})

test('the endpoint requires credentials', async () => {
  expect((await ask(agent, 'POST /verification/credential', { body: 'no JSON' })).status).toBe(401)
})

test('a host that fails temporarily is 503, without details of any credential', async () => {
  // An allowed port without a listener.
  const did = 'did:web:127.0.0.1%3A2'
  const payload = {
    iss: did,
    vc: {
      type: ['VerifiableCredential'],
      '@context': ['https://www.w3.org/2018/credentials/v1'],
      credentialSubject: {},
    },
  }
  const parts = [{ alg: 'EdDSA' }, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const unreachable = {
    credential: `${parts.join('.')}.AAAA`,
    verifications: [{ verification: 'SignatureVerification' }],
  }
  const { status, body } = await post([
    { credential, verifications: [{ verification: 'SchemaCheck' }] },
    unreachable,
  ])
  expect({ status, type: body.type, result: body.result }).toEqual({
    status: 503,
    type: 'error:ServiceUnavailable',
    result: undefined,
  })
})

test('a credential of this agent passes every check until it is revoked', async () => {
  await using pair = await startPair()
  const { inviterConnectionId } = await connect(pair.issuer, pair.holder)
  const [issuing, subject] = [
    await newDid(pair.issuer, 'assertionMethod'),
    await newDid(pair.holder, 'authentication'),
  ]
  const issued = await issue(pair.issuer, pair.holder, inviterConnectionId, issuing.did, subject.did)
  const [response] = await pair.holder.call('POST /verification/credential', {
    body: [
      {
        credential: issued.credential,
        verifications: [
          { verification: 'SignatureVerification' },
          { verification: 'IntegrityOfClaims' },
          { verification: 'AlgorithmVerification' },
          { verification: 'SemanticCheckOfClaims' },
          { verification: 'ComplianceWithStandards' },
          { verification: 'RevocationCheck' },
          {
            verification: 'IssuerIdentification',
            parameter: { parameterType: 'DidParameter', did: issuing.longFormDid },
          },
          {
            verification: 'ExpirationCheck',
            parameter: { parameterType: 'DateTimeParameter', dateTime: new Date().toISOString() },
          },
        ],
      },
    ],
  })
  expect(response!.result.filter(({ success }) => !success)).toEqual([])

  const path = { id: issued.issuerRecordId }
  await pair.issuer.call('PATCH /credential-status/revoke-credential/{id}', { path })
  const [revoked] = await pair.issuer.call('POST /verification/credential', {
    body: [
      {
        credential: issued.credential,
        verifications: [{ verification: 'RevocationCheck' }, { verification: 'SignatureVerification' }],
      },
    ],
  })
  expect(revoked!.result).toEqual([
    { verification: 'RevocationCheck', success: false, detail: expect.stringContaining('revoked') },
    { verification: 'SignatureVerification', success: true },
  ])
})

test('an SD-JWT of this agent with a schema passes every check, also when presented', async () => {
  await using pair = await startPair()
  const { issuer: issuing, holder } = pair
  const { inviterConnectionId: connectionId } = await connect(issuing, holder)
  const { did: issuingDID } = await newDid(issuing, 'assertionMethod', 'Ed25519')
  const { did: subjectId } = await newDid(holder, 'authentication', 'Ed25519')
  const terms = { properties: { name: { type: 'string' }, age: { type: 'integer' } }, required: ['name'] }
  const schemaId = await publishSchema(issuing, issuingDID, { ...terms, additionalProperties: false })
  const holding = { issuer: issuing, holder, connectionId, issuingDID, subjectId }
  const issued = await issueSdJwtTo(holding, { schemaId, claims: { name: 'Alice', age: 42 }, keyId: 'key-1' })
  const presentClaims = async (claims: Record<string, string>) => {
    const options = { challenge: 'any', domain: 'https://verifier.example' }
    const { thid, accept } = await askSdJwt(issuing, holder, { connectionId, claims, options })
    await accept({ proofId: [issued.recordId] })
    return (await presentationIn(issuing.call, thid, 'PresentationVerified')).data[0]!
  }
  const failing = async (token: string) => {
    const audience = {
      verification: 'AudienceCheck' as const,
      parameter: { parameterType: 'DidParameter' as const, did: 'https://verifier.example' },
    }
    const [everything] = await holder.call('POST /verification/credential', {
      body: [{ credential: token, verifications: [] }],
    })
    const [presentedResult] = await holder.call('POST /verification/credential', {
      body: [{ credential: token, verifications: [audience] }],
    })
    expect(everything!.credential).toBe(token)
    return [...everything!.result, ...presentedResult!.result].flatMap(({ verification, success }) =>
      success ? [] : [verification],
    )
  }
  const presented = await presentClaims({ name: '' })
  expect(await failing(issued.credential)).toEqual(['AudienceCheck'])
  expect(await failing(presented)).toEqual([])
  // The schema requires a name.
  expect(await failing(await presentClaims({ age: '' }))).toEqual(['SubjectVerification'])
  // A key binding covers the disclosures that it was created for.
  const [jwt, , keyBinding] = presented.split('~') as [string, string, string]
  const signatures = ['SignatureVerification', 'IntegrityOfClaims']
  expect(await failing(`${jwt}~${keyBinding}`)).toEqual([
    'SignatureVerification',
    'SubjectVerification',
    'IntegrityOfClaims',
  ])
  expect(
    await failing(`${jwt}~${issued.credential.split('~').slice(1, -1).join('~')}~${keyBinding}`),
  ).toEqual(signatures)

  await issuing.call('PATCH /credential-status/revoke-credential/{id}', {
    path: { id: issued.issuerRecordId },
  })
  expect(await failing(presented)).toEqual(['RevocationCheck'])
})
