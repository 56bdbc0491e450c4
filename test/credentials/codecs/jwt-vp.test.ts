import { importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { toPublic } from '../../../src/foundation/crypto/keys.ts'
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { createJwtVp, type PresentationContent } from '../../../src/credentials/codecs/jwt-vp.ts'
import { vp } from './_forge.ts'
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
import { type PresentationChecks, verifyHolderProof, verifyJwtVp } from './_verify.ts'

const { tokens } = fixture('tokens.json') as { tokens: Record<string, string> }
const credential = issueJwtVc(content)
const shown: PresentationContent = {
  holderDid: holder.longForm,
  holderKey: holder.keys['auth-1'].jwk,
  audience,
  nonce,
  credentials: [credential],
}
const present = (change: Partial<PresentationContent> = {}) => createJwtVp({ ...shown, ...change })
const presentation = present()
const verify = (jwt: string, change: Partial<PresentationChecks> = {}) =>
  verifyJwtVp(jwt, { ...checks, ...change })
const refusal = (jwt: string, change?: Partial<PresentationChecks>) => failureOf(() => verify(jwt, change))
/** The presentation with another payload, signed by the holder. */
const signed = (payload: object) => forge(headerOf(shown.holderKey), payload, shown.holderKey)

describe('createJwtVp', () => {
  test('writes the members of the Cloud Agent, and the context of the data model first', () => {
    expect(Buffer.from(partsOf(present({ kid: 'auth-1' }))[0], 'base64url').toString()).toBe(
      '{"typ":"JWT","alg":"ES256K","kid":"auth-1"}',
    )
    expect(Buffer.from(partsOf(presentation)[1], 'base64url').toString()).toBe(
      `{"iss":"${holder.longForm}","aud":"${audience}","nonce":"${nonce}","vp":{"@context":["https://www.w3.org/2018/credentials/v1",` +
        `"https://www.w3.org/2018/presentations/v1"],"type":["VerifiablePresentation"],"verifiableCredential":["${credential}"]}}`,
    )
  })

  test('writes iat if a time is given, and an empty list of credentials', () => {
    expect(payloadOf(present({ credentials: [], now: now + 0.5 }))).toMatchObject({
      iat: now,
      vp: { verifiableCredential: [] },
    })
  })

  test.each([
    ['vp-es256k', 'auth-1', 'auth-1'],
    ['vp-eddsa', 'auth-2', undefined],
  ] as const)('reproduces the fixture %s', (name, key, kid) => {
    const jwt = present({
      holderKey: holder.keys[key].jwk,
      kid,
      credentials: [tokens['vc-es256k']!, tokens['vc-eddsa']!],
    })
    expect(partsOf(jwt).slice(0, 2)).toEqual(partsOf(tokens[name]!).slice(0, 2))
    if (key === 'auth-2') expect(jwt).toBe(tokens[name])
  })

  test('creates a token that jose verifies', async () => {
    const jwt = present({ holderKey: holder.keys['auth-2'].jwk })
    const key = await importJWK(toPublic(holder.keys['auth-2'].jwk), 'EdDSA')
    await expect(jwtVerify(jwt, key, { audience, issuer: holder.longForm })).resolves.toMatchObject({
      payload: { nonce },
    })
  })
})

describe('verifyJwtVp', () => {
  test('reads the payload and the credentials', async () => {
    const { payload, credentials } = await verify(presentation)
    expect(payload).toEqual(payloadOf(presentation))
    expect(credentials).toEqual([expect.objectContaining({ jwt: credential, issuerDid: issuer.did })])
  })

  test.each([
    ['the fixture in ES256K', tokens['vp-es256k']!],
    ['the fixture in EdDSA', tokens['vp-eddsa']!],
    ['the fixture with the context of presentations alone', tokens['vp-eddsa-one-context']!],
    ['a bare kid', present({ kid: 'auth-1' })],
    ['the DID as kid', present({ kid: holder.longForm })],
    ['one credential that is not in a list', vp((p) => (p.vp.verifiableCredential = credential))],
    ['a full kid', present({ kid: `${holder.longForm}#auth-1` })],
    ['a kid with the short form', present({ kid: `${holder.did}#auth-1` })],
    ['a full kid that the document does not have', present({ kid: `${holder.longForm}#master0` })],
    [
      'the same with the short form, the second key',
      present({ holderKey: holder.keys['auth-2'].jwk, kid: `${holder.did}#master0` }),
    ],
    ['no kid, the second key', present({ holderKey: holder.keys['auth-2'].jwk })],
    ['the short form as iss', present({ holderDid: holder.did })],
    ['several credentials', present({ credentials: [credential, credential, tokens['vc-eddsa']!] })],
    [
      'a credential issued to the short form',
      present({ credentials: [issueJwtVc({ ...content, subjectDid: holder.did })] }),
    ],
  ])('accepts %s', async (_, jwt) => {
    expect((await verify(jwt)).credentials.length).toBe(
      [payloadOf(jwt).vp.verifiableCredential].flat().length,
    )
  })

  const variations: [string, (payload: Record<string, any>) => void][] = [
    ['aud as a list', (payload) => (payload.aud = ['https://other.example', audience])],
    ['valid iat, nbf and exp', (payload) => Object.assign(payload, { iat: now, nbf: now - 1, exp: now + 1 })],
    ['clocks 30 s apart', (payload) => Object.assign(payload, { iat: now + 30, exp: now - 29 })],
    ['a holder that is iss', ({ vp }) => (vp.holder = holder.did)],
    [
      'the context of the data model alone',
      ({ vp }) => (vp['@context'] = ['https://www.w3.org/2018/credentials/v1']),
    ],
    ['type as text, no context', ({ vp }) => (delete vp['@context'], (vp.type = 'VerifiablePresentation'))],
    ['unknown members', (payload) => Object.assign(payload, { jti: '1', presentation_submission: {} })],
  ]
  test.each(variations)('accepts %s', async (_, vary) => {
    const payload = payloadOf(presentation)
    vary(payload)
    expect((await verify(signed(payload))).payload).toEqual(payload)
  })

  test.each([
    ['no constraint', []],
    ['the schema', [{ schemaId }]],
    ['an empty list of issuers', [{ schemaId, trustIssuers: [] }]],
    ['the issuer in the long form', [{ schemaId, trustIssuers: [mallory.did, issuer.longForm] }]],
    ['two lines at once', [{ schemaId }, { schemaId, trustIssuers: [issuer.did] }]],
  ])('accepts a credential that satisfies %s', async (_, constraints) => {
    await expect(verify(presentation, { constraints })).resolves.toBeDefined()
  })

  test('accepts credentials that satisfy a line each, and names a line that none satisfies', async () => {
    const other = 'https://other.example'
    const credentials = [credential, issueJwtVc({ ...content, schemas: [other] })]
    const both = present({ credentials })
    const constraints = [{ schemaId }, { schemaId: other, trustIssuers: [mallory.did, issuer.longForm] }]
    await expect(verify(both, { constraints })).resolves.toBeDefined()
    await expect(verify(presentation, { constraints })).rejects.toMatchObject({
      code: 'credential-missing',
      message: `No credential satisfies proofs.1, the schema ${other} by ${mallory.did} or ${issuer.did}`,
    })
  })

  test('accepts a credential with one accepted schema among several', async () => {
    const credentials = [issueJwtVc({ ...content, schemas: ['https://other.example', schemaId] })]
    await expect(verify(present({ credentials }), { constraints: [{ schemaId }] })).resolves.toBeDefined()
  })

  test('names the refused credential', async () => {
    const jwt = present({
      credentials: [credential, issueJwtVc({ ...content, subjectDid: mallory.longForm })],
    })
    await expect(verify(jwt)).rejects.toThrow(/^Credential 2 of 2: /)
    expect(await refusal(jwt)).toBe('holder-binding')
  })

  test('does not reveal the expected challenge', async () => {
    await expect(verify(present({ nonce: 'another' }))).rejects.not.toThrow(nonce)
  })

  test('applies its leeway to credentials without their own', async () => {
    const late = { now: now + 3_700 }
    await verify(presentation, { ...late, leewaySeconds: 200 })
    await verify(presentation, { ...late, credentialChecks: { leewaySeconds: 200 } })
    await verify(presentation, { ...late, credentialChecks: { verifyDates: false } })
    const strict = { ...late, leewaySeconds: 200, credentialChecks: { leewaySeconds: 0 } }
    expect(await refusal(presentation, strict)).toBe('expired')
  })

  test('checks the status of a credential', async () => {
    const revocable = present({
      credentials: [issueJwtVc({ ...content, credentialStatus: { type: 'StatusList2021Entry' } })],
    })
    await verify(revocable, { credentialChecks: { checkStatus: async () => {} } })
    const checkStatus = () => Promise.reject(new Error('revoked'))
    expect(await refusal(revocable, { credentialChecks: { checkStatus } })).toBe('status')
  })

  test('resolves the holder after challenge, domain and dates, and issuers after the signature of the holder', async () => {
    const asked: string[] = []
    const counting = { resolve: (did: string) => (asked.push(did), resolve(did)) }
    for (const change of [{ nonce: 'another' }, { audience: 'another' }, { now: now + 60 }])
      await refusal(present(change), counting)
    expect(asked).toEqual([])
    await refusal(present({ holderKey: mallory.keys['auth-1'].jwk }), counting)
    expect(asked).toEqual([holder.longForm])
    await verify(presentation, counting)
    expect(asked).toEqual([holder.longForm, holder.longForm, issuer.did])
  })
})

describe('verifyHolderProof', () => {
  const proof = present({ credentials: [] })

  test('accepts a presentation without credentials, with an empty list or none', async () => {
    const key = { id: `${holder.longForm}#auth-1`, publicKeyJwk: toPublic(holder.keys['auth-1'].jwk) }
    expect(await verifyHolderProof(proof, checks)).toEqual({ holderDid: holder.longForm, key })
    const { verifiableCredential: _, ...vp } = payloadOf(proof).vp
    const without = signed({ ...payloadOf(proof), aud: [audience], iat: now, vp })
    expect(await verifyHolderProof(without, checks)).toEqual({ holderDid: holder.longForm, key })
  })

  test.each([
    ['with credentials', presentation, {}, 'credential-count'],
    ['for another challenge', proof, { nonce: 'another' }, 'nonce'],
    ['for another domain', proof, { audience: 'another' }, 'audience'],
    [
      'with a key for assertions',
      present({ credentials: [], holderKey: holder.keys['issue-1'].jwk }),
      {},
      'signature',
    ],
  ])('refuses a presentation %s', async (_, jwt, change, failure) => {
    expect(await failureOf(() => verifyHolderProof(jwt, { ...checks, ...change }))).toBe(failure)
  })
})
