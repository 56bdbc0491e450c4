/** Type metadata whose digest is in credentials never change: a change makes the next version of the type. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { ask } from '../../support/ask.ts'
import { untilEnd } from '../../support/shared.ts'
import { startServer } from '../../support/server.ts'
import { publishSchema, refusal } from '../../support/tenants.ts'
import { offer, prove, redeemed, request, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { agent, tenant, issuerId, issuingDID, identifier } = setup
const schemaId = await publishSchema(tenant, issuingDID, { properties: { name: { type: 'string' } } })
const one = 'credential-configurations/{credentialConfigId}' as const

const add = (configurationId: string, more: object = {}) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId, format: 'dc+sd-jwt', schemaId, issuingDID, ...more },
  })
const change = (credentialConfigId: string, body: object) =>
  tenant.call(`PATCH /oid4vci/issuers/{issuerId}/${one}`, { path: { issuerId, credentialConfigId }, body })
const remove = (credentialConfigId: string) =>
  tenant.call(`DELETE /oid4vci/issuers/{issuerId}/${one}`, { path: { issuerId, credentialConfigId } })

async function issue(configuration: string) {
  const options = {
    credentialConfigurationId: configuration,
    issuingDID: undefined,
    claims: { name: 'Alice' },
  }
  const { token } = await redeemed(setup, options)
  const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(setup)] } }
  const { body: reply } = await request(setup, { token, body })
  return decodeSdJwt(reply.credentials[0].credential).payload as Record<string, any>
}

async function read(vct: string) {
  const text = await (await fetch(vct)).text()
  const integrity = `sha256-${createHash('sha256').update(text).digest('base64')}`
  return { document: JSON.parse(text), integrity }
}

const named = (name: string) => ({ display: [{ locale: 'en', name }] })

test('a used type keeps its metadata; the next version extends it, and its credentials name both', async () => {
  await add('Card', named('Card'))
  // Nobody has the digest yet.
  await change('Card', named('Employee card'))
  const first = await issue('Card')
  expect(first['vct']).toBe(`${identifier}/credential-types/Card`)
  const before = await read(first['vct'])
  expect(before.integrity).toBe(first['vct#integrity'])
  expect(before.document.name).toBe('Employee card')
  const refused = await refusal(change('Card', named('Staff card')))
  expect(refused).toMatchObject({ status: 409, type: 'TypeMetadataInUse' })
  expect(refused.detail).toMatch(/--new-version.*integrity: false/)
  expect((await refusal(change('Card', { integrity: false }))).status).toBe(409)
  // What the metadata do not contain can change.
  await change('Card', { issuingDID, ...named('Employee card') })
  expect(await change('Card', { ...named('Staff card'), newVersion: true })).toMatchObject({ typeVersion: 2 })
  expect(await read(first['vct'])).toEqual(before)
  const second = await issue('Card')
  expect(second).toMatchObject({ vct: `${first['vct']}/v2`, aka_vcts: [first['vct']] })
  const after = await read(second['vct'])
  expect(after.integrity).toBe(second['vct#integrity'])
  expect(after.document).toMatchObject({
    vct: second['vct'],
    name: 'Staff card',
    extends: first['vct'],
    'extends#integrity': first['vct#integrity'],
  })
  await change('Card', { ...named('Badge'), newVersion: true })
  expect(await issue('Card')).toMatchObject({
    vct: `${first['vct']}/v3`,
    aka_vcts: [first['vct'], second['vct']],
  })
})

test('a type extends one of others, whose metadata are read at once', async () => {
  const base = { vct: '', name: 'Employee', claims: [{ path: ['name'], mandatory: true }] }
  let answer: object | number = base
  const host = await untilEnd(
    startServer((_, response) => {
      response.statusCode = typeof answer === 'number' ? answer : 200
      response.end(JSON.stringify(answer))
    }),
  )
  base.vct = `${host.url}/employee`
  const made = await add('Extending', { ...named('Card'), extends: base.vct })
  expect(made.extends).toBe(base.vct)
  const { document } = await read(`${identifier}/credential-types/Extending`)
  const digest = createHash('sha256').update(JSON.stringify(base)).digest('base64')
  expect(document).toMatchObject({ extends: base.vct, 'extends#integrity': `sha256-${digest}` })
  const refused = async () => (await refusal(add('Refused', { extends: base.vct }))).detail
  answer = { ...base, vct: 'other' }
  expect(await refused()).toBe('extends: The type metadata describes another vct.')
  answer = { ...base, extends: 'https://a.example/b' }
  expect(await refused()).toContain('without the digest of its metadata')
  answer = 404
  expect(await refused()).toContain('it answered with status 404')
  expect((await refusal(add('Refused', { extends: 'http://types.example/a' }))).detail).toContain(
    'it is not https',
  )
  await change('Extending', { extends: null })
  expect((await read(`${identifier}/credential-types/Extending`)).document).not.toHaveProperty('extends')
})

test('an offer fixes the metadata of its credential', async () => {
  await add('Offered', named('Offered'))
  await offer(setup, {
    credentialConfigurationId: 'Offered',
    issuingDID: undefined,
    claims: { name: 'Alice' },
  })
  expect((await refusal(change('Offered', named('Other')))).status).toBe(409)
})

test('without integrity the metadata can change', async () => {
  await add('Open', { ...named('Open'), integrity: false })
  expect(await issue('Open')).not.toHaveProperty('vct#integrity')
  await change('Open', named('Wide open'))
  expect((await read(`${identifier}/credential-types/Open`)).document.name).toBe('Wide open')
})

test('the metadata stay when configuration and issuer are gone, and the next of the id is a later version', async () => {
  await add('Gone', named('Gone'))
  const { vct } = await issue('Gone')
  const before = await read(vct)
  await remove('Gone')
  expect(await read(vct)).toEqual(before)
  expect(await add('Gone', named('Back'))).toMatchObject({ typeVersion: 2 })
  const again = await issue('Gone')
  expect(again['vct']).toBe(`${vct}/v2`)
  expect(again).not.toHaveProperty('aka_vcts')
  expect((await read(again['vct'])).document).not.toHaveProperty('extends')
})

test.each(['v1', 'v3', 'v0', 'v02', '2', 'V2'])(
  'there is no version %s of a type that has one',
  async (version) => {
    const reply = await ask(agent, `GET /oid4vci/issuers/${issuerId}/credential-types/Person/${version}`)
    expect(reply.status).toBe(404)
  },
)

test('a type of an earlier release counts as used', async () => {
  await add('Old')
  const { db } = agent.agent
  const row = { issuer_id: issuerId, configuration_id: 'Old', version: 1, wallet_id: tenant.walletId }
  await db
    .insertInto('credential_type')
    .values({ ...row, document: null, created_at: 'before' })
    .execute()
  const before = await read(`${identifier}/credential-types/Old`)
  expect((await refusal(change('Old', named('New')))).status).toBe(409)
  await change('Old', { ...named('New'), newVersion: true })
  expect(await read(`${identifier}/credential-types/Old`)).toEqual(before)
})
