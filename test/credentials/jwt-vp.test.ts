import { importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { toPublic } from '../../src/crypto/keys.ts'
import { issueJwtVc } from '../../src/credentials/jwt-vc.ts'
import {
  createJwtVp,
  type PresentationContent,
  verifyHolderProof,
  verifyJwtVp,
} from '../../src/credentials/jwt-vp.ts'
import { VerificationError } from '../../src/credentials/verification-error.ts'
import {
  audience,
  checks,
  content,
  failureOf,
  fixture,
  forge,
  headerOf,
  holder,
  issuer,
  mallory,
  nonce,
  now,
  partsOf,
  payloadOf,
  resolve,
  schemaId,
} from './_people.ts'

const { tokens } = fixture('tokens.json') as { tokens: Record<string, string> }
const credential = issueJwtVc(content)
const shown: PresentationContent = {
  holderDid: holder.longForm,
  holderKey: holder.keys['auth-1'].jwk,
  audience,
  nonce,
  credentials: [credential],
}
const presentation = createJwtVp(shown)

describe('createJwtVp', () => {
  test('writes the members of the real agent, and the context of the data model first', () => {
    expect(Buffer.from(partsOf(createJwtVp({ ...shown, kid: 'auth-1' }))[0], 'base64url').toString()).toBe(
      '{"typ":"JWT","alg":"ES256K","kid":"auth-1"}',
    )
    expect(Buffer.from(partsOf(presentation)[1], 'base64url').toString()).toBe(
      `{"iss":"${holder.longForm}","aud":"${audience}","nonce":"${nonce}","vp":{"@context":["https://www.w3.org/2018/credentials/v1",` +
        `"https://www.w3.org/2018/presentations/v1"],"type":["VerifiablePresentation"],"verifiableCredential":["${credential}"]}}`,
    )
  })

  test('writes iat only when given a time, and an empty list of credentials', () => {
    expect(payloadOf(createJwtVp({ ...shown, credentials: [], now: now + 0.5 }))).toMatchObject({
      iat: now,
      vp: { verifiableCredential: [] },
    })
  })

  test.each([
    ['vp-es256k', 'auth-1', 'auth-1'],
    ['vp-eddsa', 'auth-2', undefined],
  ] as const)('writes what it wrote when the fixtures were made: %s', (name, key, kid) => {
    const jwt = createJwtVp({
      ...shown,
      holderKey: holder.keys[key].jwk,
      kid,
      credentials: [tokens['vc-es256k']!, tokens['vc-eddsa']!],
    })
    expect(partsOf(jwt).slice(0, 2)).toEqual(partsOf(tokens[name]!).slice(0, 2))
    if (key === 'auth-2') expect(jwt).toBe(tokens[name])
  })

  test('writes what jose verifies', async () => {
    const jwt = createJwtVp({ ...shown, holderKey: holder.keys['auth-2'].jwk })
    const key = await importJWK(toPublic(holder.keys['auth-2'].jwk), 'EdDSA')
    await expect(jwtVerify(jwt, key, { audience, issuer: holder.longForm })).resolves.toMatchObject({
      payload: { nonce },
    })
  })
})

describe('verifyJwtVp', () => {
  test('says who presented what', async () => {
    const { payload, ...verified } = await verifyJwtVp(presentation, checks)
    expect(verified).toEqual({
      holderDid: holder.longForm,
      key: { id: `${holder.longForm}#auth-1`, publicKeyJwk: toPublic(holder.keys['auth-1'].jwk) },
      credentials: [
        expect.objectContaining({
          jwt: credential,
          issuerDid: issuer.did,
          key: { id: `${issuer.did}#issue-1`, publicKeyJwk: expect.anything() },
        }),
      ],
    })
    expect(payload).toEqual(payloadOf(presentation))
  })

  test.each([
    ['the fixture in ES256K', tokens['vp-es256k']!],
    ['the fixture in EdDSA', tokens['vp-eddsa']!],
    ['the fixture with the context of presentations alone', tokens['vp-eddsa-one-context']!],
    ['a bare kid', createJwtVp({ ...shown, kid: 'auth-1' })],
    ['a full kid', createJwtVp({ ...shown, kid: `${holder.longForm}#auth-1` })],
    ['a kid with the short form', createJwtVp({ ...shown, kid: `${holder.did}#auth-1` })],
    [
      'a full kid that the document does not have',
      createJwtVp({ ...shown, kid: `${holder.longForm}#master0` }),
    ],
    [
      'the same with the short form, the second key',
      createJwtVp({ ...shown, holderKey: holder.keys['auth-2'].jwk, kid: `${holder.did}#master0` }),
    ],
    ['no kid, the second key', createJwtVp({ ...shown, holderKey: holder.keys['auth-2'].jwk })],
    ['the short form as iss', createJwtVp({ ...shown, holderDid: holder.did })],
    [
      'several credentials',
      createJwtVp({ ...shown, credentials: [credential, credential, tokens['vc-eddsa']!] }),
    ],
    [
      'a credential issued to the short form',
      createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, subjectDid: holder.did })] }),
    ],
  ])('takes %s', async (_, jwt) => {
    expect((await verifyJwtVp(jwt, checks)).credentials.length).toBe(
      payloadOf(jwt).vp.verifiableCredential.length,
    )
  })

  const variations: [string, (payload: Record<string, any>) => void][] = [
    ['aud as a list', (payload) => (payload.aud = ['https://other.example', audience])],
    [
      'iat, nbf and exp that hold',
      (payload) => Object.assign(payload, { iat: now, nbf: now - 1, exp: now + 1 }),
    ],
    ['clocks 30 s apart', (payload) => Object.assign(payload, { iat: now + 30, exp: now - 29 })],
    ['a holder that is iss', ({ vp }) => (vp.holder = holder.did)],
    [
      'the context of the data model alone',
      ({ vp }) => (vp['@context'] = ['https://www.w3.org/2018/credentials/v1']),
    ],
    ['type as text, no context', ({ vp }) => (delete vp['@context'], (vp.type = 'VerifiablePresentation'))],
    ['members nobody knows', (payload) => Object.assign(payload, { jti: '1', presentation_submission: {} })],
  ]
  test.each(variations)('takes %s', async (_, vary) => {
    const payload = payloadOf(presentation)
    vary(payload)
    expect(
      (await verifyJwtVp(forge(headerOf(shown.holderKey), payload, shown.holderKey), checks)).payload,
    ).toEqual(payload)
  })

  test.each([
    ['no constraint', []],
    ['the schema', [{ schemaId }]],
    ['an empty list of issuers', [{ schemaId, trustIssuers: [] }]],
    ['the issuer in the long form', [{ schemaId, trustIssuers: [mallory.did, issuer.longForm] }]],
    ['two lines at once', [{ schemaId }, { schemaId, trustIssuers: [issuer.did] }]],
  ])('takes a credential that meets %s', async (_, constraints) => {
    await expect(verifyJwtVp(presentation, { ...checks, constraints })).resolves.toBeDefined()
  })

  test('takes credentials that satisfy a line each, and says which line none satisfies', async () => {
    const other = 'https://other.example'
    const credentials = [credential, issueJwtVc({ ...content, schemas: [other] })]
    const both = createJwtVp({ ...shown, credentials })
    const constraints = [{ schemaId }, { schemaId: other, trustIssuers: [mallory.did, issuer.longForm] }]
    await expect(verifyJwtVp(both, { ...checks, constraints })).resolves.toBeDefined()
    await expect(verifyJwtVp(presentation, { ...checks, constraints })).rejects.toMatchObject({
      code: 'credential-missing',
      message: `No credential satisfies proofs.1, the schema ${other} by ${mallory.did} or ${issuer.did}`,
    })
  })

  test('takes a credential with one accepted schema among its several', async () => {
    const credentials = [issueJwtVc({ ...content, schemas: ['https://other.example', schemaId] })]
    await expect(
      verifyJwtVp(createJwtVp({ ...shown, credentials }), { ...checks, constraints: [{ schemaId }] }),
    ).resolves.toBeDefined()
  })

  test('says which credential it refused', async () => {
    const jwt = createJwtVp({
      ...shown,
      credentials: [credential, issueJwtVc({ ...content, subjectDid: mallory.longForm })],
    })
    const error = await verifyJwtVp(jwt, checks).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(VerificationError)
    expect(error).toMatchObject({
      code: 'holder-binding',
      message: expect.stringMatching(/^Credential 2 of 2: /),
    })
  })

  test('does not tell the expected challenge to whom it refuses', async () => {
    const error = await verifyJwtVp(createJwtVp({ ...shown, nonce: 'another' }), checks).catch(
      (reason: unknown) => reason,
    )
    expect((error as Error).message).not.toContain(nonce)
  })

  test('gives its leeway to the credentials, which may have their own', async () => {
    const late = { ...checks, now: now + 3_700 }
    await verifyJwtVp(presentation, { ...late, leewaySeconds: 200 })
    await verifyJwtVp(presentation, { ...late, credentialChecks: { leewaySeconds: 200 } })
    await verifyJwtVp(presentation, { ...late, credentialChecks: { verifyDates: false } })
    expect(
      await failureOf(() =>
        verifyJwtVp(presentation, { ...late, leewaySeconds: 200, credentialChecks: { leewaySeconds: 0 } }),
      ),
    ).toBe('expired')
    expect(await failureOf(() => verifyJwtVp(presentation, { ...late, verifyDates: false }))).toBe('expired')
  })

  test('looks past its own dates when told so, not past those of the credentials', async () => {
    const old = forge(
      headerOf(shown.holderKey),
      { ...payloadOf(presentation), exp: now - 500 },
      shown.holderKey,
    )
    await verifyJwtVp(old, { ...checks, verifyDates: false })
    expect(
      await failureOf(() => verifyJwtVp(old, { ...checks, credentialChecks: { verifyDates: false } })),
    ).toBe('expired')
  })

  test('asks the caller about the status of a credential', async () => {
    const revocable = createJwtVp({
      ...shown,
      credentials: [issueJwtVc({ ...content, credentialStatus: { type: 'StatusList2021Entry' } })],
    })
    await verifyJwtVp(revocable, { ...checks, credentialChecks: { checkStatus: async () => {} } })
    expect(
      await failureOf(() =>
        verifyJwtVp(revocable, {
          ...checks,
          credentialChecks: { checkStatus: () => Promise.reject(new Error('revoked')) },
        }),
      ),
    ).toBe('status')
  })

  test('resolves nobody before challenge, domain and dates have passed, and no issuer before the signature of the holder has', async () => {
    const asked: string[] = []
    const counting = { ...checks, resolve: (did: string) => (asked.push(did), resolve(did)) }
    await failureOf(() => verifyJwtVp(createJwtVp({ ...shown, nonce: 'another' }), counting))
    await failureOf(() => verifyJwtVp(createJwtVp({ ...shown, audience: 'another' }), counting))
    await failureOf(() => verifyJwtVp(createJwtVp({ ...shown, now: now + 60 }), counting))
    expect(asked).toEqual([])
    await failureOf(() =>
      verifyJwtVp(createJwtVp({ ...shown, holderKey: mallory.keys['auth-1'].jwk }), counting),
    )
    expect(asked).toEqual([holder.longForm])
    await verifyJwtVp(presentation, counting)
    expect(asked).toEqual([holder.longForm, holder.longForm, issuer.did])
  })
})

describe('verifyHolderProof', () => {
  const proof = createJwtVp({ ...shown, credentials: [] })

  test('takes a presentation without credentials, with an empty list or none', async () => {
    expect(await verifyHolderProof(proof, checks)).toMatchObject({
      holderDid: holder.longForm,
      credentials: [],
    })
    const { verifiableCredential: _, ...vp } = payloadOf(proof).vp
    const without = forge(
      headerOf(shown.holderKey),
      { ...payloadOf(proof), aud: [audience], iat: now, vp },
      shown.holderKey,
    )
    expect(await verifyHolderProof(without, checks)).toMatchObject({
      holderDid: holder.longForm,
      credentials: [],
    })
  })

  test('refuses one with credentials, and whatever verifyJwtVp refuses', async () => {
    expect(await failureOf(() => verifyHolderProof(presentation, checks))).toBe('credential-count')
    expect(await failureOf(() => verifyHolderProof(proof, { ...checks, nonce: 'another' }))).toBe('nonce')
    expect(await failureOf(() => verifyHolderProof(proof, { ...checks, audience: 'another' }))).toBe(
      'audience',
    )
    expect(
      await failureOf(() =>
        verifyHolderProof(
          createJwtVp({ ...shown, credentials: [], holderKey: holder.keys['issue-1'].jwk }),
          checks,
        ),
      ),
    ).toBe('signature')
  })
})
