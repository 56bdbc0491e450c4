/** `agent dcql from`: queries for credentials, schemas and types. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { createKeyDid } from '../../src/did/key.ts'
import { issueJwtVc } from '../../src/credentials/codecs/jwt-vc.ts'
import { issueSdJwt } from '../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { readMdoc } from '../support/mdoc.ts'
import { startServer } from '../support/server.ts'
import { connect, issue, newDid, presentationIn, receive } from '../support/tenants.ts'
import { startCommandedPair } from './_agents.ts'
import { newUser } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const alone = newUser()
const pair = await untilEnd(startCommandedPair())
afterAll(async () => {
  alone.remove()
})

const key = generateKey('Ed25519')
const issuerDid = createKeyDid(toPublic(key))
const about = { issuerDid, issuerKey: key, subjectDid: issuerDid, now: 1_700_000_000 }
const claims = { name: 'Alice', address: { city: 'Bern' }, tags: ['a', 'b'] }
const sdJwt = issueSdJwt({
  ...about,
  claims,
  vct: 'urn:person',
  expiresAt: 1_900_000_000,
  holderKey: toPublic(key),
})

test('a token needs no daemon, and its claims are selected by their paths', async () => {
  const person = { id: 'credential', format: 'dc+sd-jwt', meta: { vct_values: ['urn:person'] } }
  expect(await alone.json`dcql from ${sdJwt}`).toEqual({
    credentials: [{ ...person, claims: [{ path: ['address'] }, { path: ['name'] }, { path: ['tags'] }] }],
  })
  const chosen = ['--claim', 'address.city', '--claim', 'tags[1]', '--claim', 'tags[*]', '--id', 'person']
  expect(await alone.json(['dcql', 'from', '-', ...chosen], { input: sdJwt })).toEqual({
    credentials: [
      {
        ...person,
        id: 'person',
        claims: [{ path: ['address', 'city'] }, { path: ['tags', 1] }, { path: ['tags', null] }],
      },
    ],
  })
})

test('a JWT is asked for by its types, and its claims are in the subject', async () => {
  const jwt = issueJwtVc({ ...about, claims, schemas: [] })
  expect(await alone.json`dcql from ${jwt} --claim name`).toEqual({
    credentials: [
      {
        id: 'credential',
        format: 'jwt_vc_json',
        meta: { type_values: [['VerifiableCredential']] },
        claims: [{ path: ['credentialSubject', 'name'] }],
      },
    ],
  })
})

test('an mdoc is asked for by its elements, which are not retained', async () => {
  const { cases } = readMdoc('issuance') as { cases: { base64url: string; issuerSignedHex: string }[] }
  const { base64url, issuerSignedHex: hex } = cases[1]!
  const file = join(alone.folder, 'mdoc.cbor')
  writeFileSync(file, Buffer.from(hex, 'hex'))
  const elementOf = (...path: string[]) => ({ path, intent_to_retain: false })
  const chosen = [
    elementOf('org.iso.18013.5.1.mDL', 'last_name'),
    elementOf('org.iso.18013.5.1.second', 'street'),
  ]
  const query = { id: 'credential', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1' } }
  const all = [
    elementOf('org.iso.18013.5.1.mDL', 'first_name'),
    chosen[0],
    elementOf('org.iso.18013.5.1.second', 'number'),
    chosen[1],
  ]
  for (const text of [base64url, hex, `@${file}`])
    expect(await alone.json`dcql from ${text}`).toEqual({ credentials: [{ ...query, claims: all }] })
  const claims = ['--claim', 'last_name', '--claim', 'org.iso.18013.5.1.second.street']
  expect(await alone.json(['dcql', 'from', base64url, ...claims])).toEqual({
    credentials: [{ ...query, claims: chosen }],
  })
})

test('a credential without a key of the holder is asked for without holder binding', async () => {
  const bearer = issueSdJwt({ ...about, claims, vct: 'urn:ticket', expiresAt: 1_900_000_000 })
  const { credentials } = await alone.json`dcql from ${bearer} --claim name`
  expect(credentials[0].require_cryptographic_holder_binding).toBe(false)
})

test.each([
  [
    'a claim that it does not have',
    [sdJwt, '--claim', 'age'],
    'the credential has no claim age. It has address, name, tags',
  ],
  ['an empty name', [sdJwt, '--claim', 'a..b'], 'is not a path of a claim'],
  ['a broken token', ['eyJ.e30.AA'], 'The credential cannot be read'],
  ['nothing', [], 'Give a credential, or a schema with --schema'],
  ['a claim twice', [sdJwt, '--claim', 'name', '--claim', 'name'], 'claims.1.path is that of another claim'],
])('refuses %s', async (_, args, reason) => {
  const { code, err } = await alone.run(['dcql', 'from', ...args])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(reason) })
})

test('a record of the wallet gives a query that a request takes', async () => {
  const { issuer, holder } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod')
  const { did: subject } = await newDid(holder, 'authentication')
  const { recordId } = await issue(issuer, holder, inviterConnectionId, did, subject)
  const query = await pair.as(holder).json`dcql from ${recordId.slice(-8)}`
  expect(query.credentials[0]).toMatchObject({
    format: 'jwt_vc_json',
    claims: [{ path: ['credentialSubject', 'name'] }],
  })
  const file = join(pair.user.folder, 'query.json')
  writeFileSync(file, JSON.stringify(query))
  const request = await pair.as(issuer).json`proof request --oid4vp --dcql ${file} --any-issuer`
  expect(request.openid4vp.dcqlQuery).toEqual(query)
})

test('a query is requested over a connection, and answered with the claims that it names', async () => {
  const { issuer, holder, user, as } = pair
  const { inviterConnectionId: connection } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod', 'Ed25519')
  const { did: subject } = await newDid(holder, 'authentication', 'Ed25519')
  const offer = await as(issuer)
    .json`credential offer --connection ${connection} --issuing-did ${did} --format sdjwt --claim name=Alice --claim age:=42 --auto`
  const { recordId } = await receive(holder, offer, { subjectId: subject, keyId: 'key-1' })
  const file = join(user.folder, 'name.json')
  writeFileSync(file, (await as(holder).run`dcql from ${recordId} --claim name`).out)
  const { thid, presentationId } = await as(issuer)
    .json`proof request --connection ${connection} --dcql ${file} --any-issuer`
  const asked = await presentationIn(holder.call, thid, 'RequestReceived')
  const shown = await as(holder).run`proof show ${asked.presentationId}`
  expect(shown.out).toMatch(/^asked for +name of /m)
  expect((await as(holder).run`proof present ${asked.presentationId} --credential ${recordId}`).code).toBe(0)
  await presentationIn(issuer.call, thid, 'PresentationVerified')
  const { out } = await as(issuer).run`proof show ${presentationId}`
  expect(out).toMatch(/^shown name +Alice$/m)
  expect(out).not.toMatch(/^shown age/m)
  expect(
    (await as(issuer).run`proof request --connection ${connection} --dcql ${file} --format sdjwt`).code,
  ).toBe(2)
})

test('a schema of the agent, by its guid', async () => {
  const schema = join(pair.user.folder, 'schema.json')
  writeFileSync(
    schema,
    JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
    }),
  )
  const { did } = await newDid(pair.issuer, 'assertionMethod')
  const commands = pair.as(pair.issuer)
  const { guid } =
    await commands.json`schema publish --schema @${schema} --name person --version 1.0.0 --author ${did}`
  expect((await commands.json`dcql from --schema ${guid}`).credentials).toMatchObject([
    {
      meta: { vct_values: [`${pair.agent.url}/schema-registry/schemas/${guid}`] },
      claims: [{ path: ['name'] }, { path: ['age'] }],
    },
  ])
})

test('a JWT of a schema has the type of every credential', async () => {
  expect((await alone.json`dcql from --schema urn:x --jwt --claim address.city`).credentials).toMatchObject([
    {
      meta: { type_values: [['VerifiableCredential']] },
      claims: [{ path: ['credentialSubject', 'address', 'city'] }],
    },
  ])
})

test('type metadata at a URL, and a document without claims', async () => {
  const metadata = { vct: 'x', claims: [{ path: ['name'] }, { path: ['address', 'city'] }] }
  await using server = await startServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/type' ? metadata : {}))
  })
  const type = `${server.url}/type`
  expect((await alone.json`dcql from --schema ${type}`).credentials).toMatchObject([
    { meta: { vct_values: [type] }, claims: metadata.claims },
  ])
  const { code, err } = await alone.run`dcql from --schema ${`${server.url}/other`}`
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('neither a JSON Schema with properties nor type metadata'),
  })
})
