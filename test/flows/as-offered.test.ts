/** A credential that differs from its offer is not stored, ends the flow and is reported to the issuer. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { issueJwtVc, type CredentialContent } from '../../src/credentials/codecs/jwt-vc.ts'
import { anyCredential, issueSdJwt, type SdJwtContent } from '../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { base64Attachment, jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { startAgent } from '../support/agent.ts'
import { credentialIn, newDid } from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { acceptOfferWith } from './_steps.ts'
import { createKeyDid } from '../../src/did/key.ts'
import { untilEnd } from '../support/shared.ts'

const issuerKey = generateKey('Ed25519')
const issuerDid = createKeyDid(toPublic(issuerKey))
const report = 'https://didcomm.org/report-problem/2.0/problem-report'
const schema = 'https://schemas.example/guest'
const other = 'https://schemas.example/convict'
const claims = { role: 'guest', age: 42, address: { city: 'Bern', zip: 3000 }, tags: [1, null, 'x'] }
const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The preview of the claims as the Cloud Agent writes it. */
const preview = Object.entries(claims).map(([name, value]) =>
  typeof value === 'string' ? { name, value } : { name, value: json(value), media_type: 'application/json' },
)

const agent = await untilEnd(startAgent())
const party = await untilEnd(openParty())
const holder = await agent.newTenant('holder')
const { theirDid, connectionId } = await party.connect(holder)
const { did: subjectId, longFormDid: subjectDid } = await newDid(holder, 'authentication', 'Ed25519')

type Format = 'prism/jwt' | 'vc+sd-jwt'

/**
 * Offers a credential and issues a token after the acceptance. Returns the holder's record in its final
 * state.
 */
async function run(
  format: Format,
  { attributes = preview, schemas = [schema] }: { attributes?: object[]; schemas?: string[] },
  token: string,
) {
  const thid = randomUUID()
  const named = schemas.length > 0 ? { schema_ids: schemas, schema_id: schemas[0] } : {}
  const options = { challenge: 'the challenge', domain: 'https://peer.example' }
  const body = { credential_preview: { ...named, body: { attributes } } }
  await party.send(theirDid, {
    type: typesOf.offer,
    thid,
    body,
    attachments: [jsonAttachment('1', { options }, format)],
  })
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
  await acceptOfferWith(holder, recordId, { subjectId })
  await party.next(typesOf.credentialRequest)
  const answer = await party.send(theirDid, {
    type: typesOf.credential,
    thid,
    attachments: [base64Attachment('1', token, format)],
  })
  expect(answer).toEqual({ status: 200 })
  return { thid, recordId, end: (state: string) => credentialIn(holder.call, thid, state) }
}

const now = () => Math.floor(Date.now() / 1_000)
const jwt = (change: Partial<CredentialContent> = {}) =>
  issueJwtVc({ issuerDid, issuerKey, subjectDid, claims, schemas: [schema], now: now(), ...change })
const sdJwt = (change: Partial<SdJwtContent> = {}) =>
  issueSdJwt({
    issuerDid,
    issuerKey,
    subjectDid,
    claims,
    vct: schema,
    expiresAt: now() + 60,
    now: now(),
    ...change,
  })

/** The SD-JWT without the disclosure of a claim. */
function withheld(token: string, name: string): string {
  const isOf = (disclosure: string) => Buffer.from(disclosure, 'base64url').toString().includes(`"${name}"`)
  return token
    .split('~')
    .filter((part, index) => index === 0 || part === '' || !isOf(part))
    .join('~')
}

const formats = [
  ['JWT', 'prism/jwt', (changed: object) => jwt({ claims: changed as typeof claims })],
  ['SD-JWT', 'vc+sd-jwt', (changed: object) => sdJwt({ claims: changed as typeof claims })],
] as const

describe.each(formats)('%s', (_, format, issued) => {
  const { age: _age, ...withoutAge } = claims
  const refused: [string, () => string, RegExp, object?][] = [
    [
      'has another value',
      () => issued({ ...claims, role: 'convicted felon' }),
      /its claim role is not what was offered/,
    ],
    [
      'has another nested value',
      () => issued({ ...claims, address: { city: 'Bern', zip: 3001 } }),
      /its claim address/,
    ],
    [
      'has an additional nested member',
      () => issued({ ...claims, address: { ...claims.address, more: true } }),
      /its claim address/,
    ],
    ['has another order in a list', () => issued({ ...claims, tags: [null, 1, 'x'] }), /its claim tags/],
    ['has a string instead of a number', () => issued({ ...claims, age: '42' }), /its claim age/],
    ['lacks a claim', () => issued(withoutAge), /it lacks the claim age/],
    [
      'has an additional claim',
      () => issued({ ...claims, admin: true }),
      /it has the claim admin, which was not offered/,
    ],
    [
      'is of another schema',
      () => (format === 'prism/jwt' ? jwt({ schemas: [other] }) : sdJwt({ vct: other })),
      /of the schema .*convict/,
    ],
  ]
  test.each(refused)('a credential that %s is not stored', async (_what, token, why) => {
    const { thid, recordId, end } = await run(format, {}, token())
    const { metaLastFailure, ...ended } = await end('ProblemReportSent')
    expect(metaLastFailure).toMatchObject({
      type: 'error:CredentialServiceError:InvalidCredentialIssue',
      detail: expect.stringMatching(why),
    })
    expect(ended).not.toHaveProperty('credential')
    expect(await party.next(report)).toMatchObject({
      pthid: thid,
      body: { code: 'e.p.trust.credential-refused', comment: metaLastFailure!.detail },
    })
    const held = await agent.agent.wallets.use(holder.walletId, ({ db }) =>
      db.selectFrom('credential').select('id').where('id', '=', recordId).execute(),
    )
    expect(held).toEqual([])
  })

  test('the offered credential is stored, regardless of the encoding of the preview', async () => {
    await (await run(format, {}, issued(claims))).end('CredentialReceived')
    await (
      await run(
        format,
        {},
        issued({ tags: claims.tags, address: { zip: 3000, city: 'Bern' }, age: 42, role: 'guest' }),
      )
    ).end('CredentialReceived')
    const asText = Object.entries(claims).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : JSON.stringify(value),
    }))
    await (await run(format, { attributes: asText }, issued(claims))).end('CredentialReceived')
  })
})

test('a JWT must have exactly the offered schemas', async () => {
  await (
    await run('prism/jwt', { schemas: [schema, other] }, jwt({ schemas: [other, schema] }))
  ).end('CredentialReceived')
  for (const [offered, issued] of [
    [[schema, other], [schema]],
    [[schema], []],
    [[], [schema]],
  ]) {
    await (await run('prism/jwt', { schemas: offered! }, jwt({ schemas: issued! }))).end('ProblemReportSent')
    await party.next(report)
  }
})

test('an SD-JWT without an offered claim is not stored; one without a type, or for an offer without a schema, is stored', async () => {
  await (await run('vc+sd-jwt', {}, withheld(sdJwt(), 'age'))).end('ProblemReportSent')
  await party.next(report)
  await (await run('vc+sd-jwt', {}, sdJwt({ vct: undefined as never }))).end('CredentialReceived')
  for (const vct of ['guest', anyCredential])
    await (await run('vc+sd-jwt', { schemas: [] }, sdJwt({ vct }))).end('CredentialReceived')
})

test('a credential of another schema is refused after automatic acceptance by schema', async () => {
  const acceptance = { credentialOffers: true, subjectId, schemaIds: [schema] }
  const path = { connectionId: await holdersConnection() }
  await holder.call('PATCH /connections/{connectionId}', { path, body: { automaticAcceptance: acceptance } })
  const thid = randomUUID()
  const body = { credential_preview: { schema_ids: [schema], body: { attributes: preview } } }
  const options = { challenge: 'the challenge', domain: 'https://peer.example' }
  await party.send(theirDid, {
    type: typesOf.offer,
    thid,
    body,
    attachments: [jsonAttachment('1', { options }, 'prism/jwt')],
  })
  await party.next(typesOf.credentialRequest)
  const attachments = [base64Attachment('1', jwt({ schemas: [other] }), 'prism/jwt')]
  expect((await party.send(theirDid, { type: typesOf.credential, thid, attachments })).status).toBe(200)
  const { metaLastFailure } = await credentialIn(holder.call, thid, 'ProblemReportSent')
  expect(metaLastFailure!.detail).toContain(`it is of the schema ${other}`)
})

async function holdersConnection(): Promise<string> {
  const { contents } = await holder.call('GET /connections')
  expect(contents.map((each) => each.connectionId)).toContain(connectionId)
  return connectionId
}
