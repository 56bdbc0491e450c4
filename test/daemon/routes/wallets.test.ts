/** `/wallets`: creation, lists, refusals. */
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent({ DEFAULT_WALLET_ENABLED: 'false' }))

const seed = '0123456789abcdef'.repeat(8)

test('a wallet is created with a name, read back and listed, and its seed is never returned', async () => {
  const wallet = await agent.admin('POST /wallets', { body: { name: 'first', seed } })
  expect(Object.keys(wallet)).toEqual(['id', 'name', 'createdAt', 'updatedAt'])
  expect(wallet).toMatchObject({
    name: 'first',
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  })
  expect(await agent.admin('GET /wallets/{walletId}', { path: { walletId: wallet.id } })).toEqual(wallet)
  expect((await agent.admin('GET /wallets')).contents).toContainEqual(wallet)
})

test('two wallets may have one name, but neither the same id nor the same seed', async () => {
  const id = 'f1b2c3d4-0000-4000-8000-000000000001'
  const other = seed.replaceAll('0', 'f')
  const create = (body: { name: string; id?: string; seed?: string }) =>
    agent.admin('POST /wallets', { body })
  expect((await create({ name: 'same', id, seed: other })).id).toBe(id)
  expect((await create({ name: 'same' })).id).not.toBe(id)
  await expect(create({ name: 'same', id })).rejects.toMatchObject({
    problem: { status: 422, type: 'error:WalletManagementServiceError:DuplicatedWalletId' },
  })
  await expect(create({ name: 'same', seed: other.toUpperCase() })).rejects.toMatchObject({
    problem: { status: 422, type: 'error:WalletManagementServiceError:DuplicatedWalletSeed' },
  })
})

test.each([
  [{}, 'name: '],
  [{ name: '' }, 'name: '],
  [{ name: 'x'.repeat(129) }, 'name: '],
  [{ name: 'x', seed: 'xyz' }, 'seed: '],
  [{ name: 'x', seed: seed.slice(1) }, 'seed: '],
  [{ name: 'x', id: 'not-a-uuid' }, 'id: '],
])('%j is 400 and creates nothing', async (body, reason) => {
  const before = (await agent.admin('GET /wallets')).contents.length
  const failed = agent.admin('POST /wallets', { body: body as { name: string } })
  await expect(failed).rejects.toMatchObject({
    problem: { status: 400, detail: expect.stringContaining(reason) },
  })
  expect((await agent.admin('GET /wallets')).contents).toHaveLength(before)
})

test('null counts as absent, and unknown fields are ignored', async () => {
  const body = { name: 'x', id: null, seed: null, description: 'whatever' }
  expect(await agent.admin('POST /wallets', { body })).toMatchObject({ name: 'x' })
})

test('an unknown wallet is 404, and an invalid id is an unknown path', async () => {
  const read = (walletId: string) => agent.admin('GET /wallets/{walletId}', { path: { walletId } })
  await expect(read('f1b2c3d4-0000-4000-8000-00000000dead')).rejects.toMatchObject({
    problem: { status: 404, type: 'NotFound' },
  })
  await expect(read('first')).rejects.toMatchObject({
    problem: { status: 404, type: 'error:ResourcePathNotFound' },
  })
})
