/** Exports that are refused, and why; a refusal changes nothing. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken, sharedAgent, startAgent } from '../../support/agent.ts'
import { refusal } from '../../support/tenants.ts'
import { exportFrom, importInto, passphrase } from './_transfer.ts'
import { withDetail } from '../../support/detail.ts'
import { untilEnd } from '../../support/shared.ts'

const [from, to] = [await untilEnd(startAgent()), await untilEnd(startAgent())]
const walletId = (await from.newTenant('alice')).walletId
const whole = await exportFrom(from, walletId)

const nothingCame = async () => {
  expect((await to.admin('GET /wallets', { query: {} })).contents.map(({ id }) => id)).not.toContain(walletId)
  expect(existsSync(join(to.dataDir, 'wallets', `${walletId}.db`))).toBe(false)
  expect(readdirSync(join(to.dataDir, 'wallets', 'transit'))).toEqual([])
}
const refused = (bytes: Uint8Array, options = {}) => refusal(importInto(to, bytes, options))

test('a file that is not an export, one of a newer release, and one with an altered header', async () => {
  const text = whole.toString('latin1')
  const other = (change: (text: string) => string) => Buffer.from(change(text), 'latin1')
  for (const bytes of [
    Buffer.from('{}\n\n'),
    Buffer.alloc(0),
    Buffer.alloc(100_000, 'x'),
    other((all) => all.slice(0, 50)),
  ])
    expect(await refused(bytes)).toMatchObject({
      status: 422,
      type: 'error:WalletPortabilityError:NotAnExport',
    })
  expect(await refused(other((all) => all.replace('"version":1', '"version":2')))).toMatchObject({
    type: 'error:WalletPortabilityError:NewerExport',
    detail: expect.stringContaining('version 2'),
  })
  // A key derivation that would take hours is not tried.
  expect(await refused(other((all) => all.replace('"N":131072', '"N":1048576')))).toMatchObject({
    type: 'error:WalletPortabilityError:NotAnExport',
  })
  const salt = /"salt":"(.)/.exec(text)![1]!
  const changed = other((all) => all.replace(`"salt":"${salt}`, `"salt":"${salt === 'A' ? 'B' : 'A'}`))
  expect(await refused(changed)).toMatchObject({ type: 'error:WalletPortabilityError:WrongPassphrase' })
  await nothingCame()
})

test('a wrong passphrase, one that a header cannot carry, and none', async () => {
  expect(await refused(whole, { passphrase: `${passphrase}.` })).toMatchObject({
    status: 422,
    type: 'error:WalletPortabilityError:WrongPassphrase',
  })
  expect(await refused(whole, { passphrase: 'short' })).toMatchObject(withDetail(400, 'x-passphrase'))
  const headers = { 'x-admin-api-key': adminToken, 'content-type': 'application/octet-stream' }
  for (const more of [{}, { 'x-passphrase': 'not base64url!' }])
    expect(
      (await to.send('POST', '/wallets/import', { headers: { ...headers, ...more }, body: whole })).status,
    ).toBe(400)
  const json = {
    'x-admin-api-key': adminToken,
    'x-passphrase': Buffer.from(passphrase).toString('base64url'),
  }
  expect((await to.send('POST', '/wallets/import', { headers: json, body: '{}' })).status).toBe(415)
  await nothingCame()
})

test('an altered file', async () => {
  const flipped = Buffer.from(whole)
  flipped[whole.length >> 1]! ^= 1
  expect(await refused(flipped)).toMatchObject({
    status: 422,
    type: 'error:WalletPortabilityError:DamagedExport',
  })
  await nothingCame()
})

test('a file above the size limit', async () => {
  const small = await sharedAgent({ WALLET_IMPORT_MAX_BYTES: '1000' })
  expect(await refusal(importInto(small, whole))).toMatchObject({
    status: 413,
    type: 'error:RequestBodyTooLarge',
  })
})

test('parameters of an export are validated, and no response contains a passphrase', async () => {
  const problem = await refusal(exportFrom(from, walletId, { passphrase: 'too short' }))
  expect(problem).toMatchObject(withDetail(400, 'passphrase'))
  expect(JSON.stringify(problem)).not.toContain('too short')
  expect(await refusal(exportFrom(from, '7d1f7a3e-3d5c-4a65-9c5e-0f8a4c0f3a11'))).toMatchObject({
    status: 404,
    type: 'error:WalletManagementServiceError:WalletNotFound',
  })
})

test('a wallet that already exists here, and an id that is in use', async () => {
  expect(await refusal(importInto(from, whole))).toMatchObject({
    status: 422,
    type: 'error:WalletManagementServiceError:DuplicatedWalletSeed',
  })
  const { walletId: existing } = await to.newTenant()
  expect(await refused(whole, { query: `?id=${existing}` })).toMatchObject({
    type: 'error:WalletManagementServiceError:DuplicatedWalletId',
  })
  await nothingCame()
})

test('rows that another wallet has here are refused, together with the rest', async () => {
  const definition = { id: 'a-definition', input_descriptors: [] }
  const row = {
    id: definition.id,
    definition: JSON.stringify(definition),
    created_at: new Date().toISOString(),
    sequence: 1,
  }
  const { walletId: another } = await to.newTenant()
  for (const [agent, wallet_id] of [
    [from, walletId],
    [to, another],
  ] as const)
    await agent.agent.db
      .insertInto('presentation_definition')
      .values({ ...row, wallet_id })
      .execute()
  const bytes = await exportFrom(from, walletId)
  expect(await refused(bytes)).toMatchObject({
    status: 409,
    type: 'error:WalletPortabilityError:BelongsToAnother',
    detail: expect.stringContaining('a-definition'),
  })
  await nothingCame()
})
