/** The onboarding of a tenant on a fresh agent with the four variables of the Cloud Agent. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'

test('wallet, entity, key, and the tenant can authenticate', async () => {
  const agent = await sharedAgent({
    ADMIN_TOKEN: 'my-admin-token',
    API_KEY_ENABLED: 'true',
    API_KEY_AUTO_PROVISIONING: 'false',
    DEFAULT_WALLET_ENABLED: 'false',
  })
  const send = async (key: string, headers: Record<string, string>, body?: object) => {
    const reply = await ask(agent, key, { headers, body })
    return { status: reply.status, body: reply.body }
  }
  const admin = { 'x-admin-api-key': 'my-admin-token' }
  const tenant = { apikey: 'my-tenant-api-key' }

  expect(await send('GET /wallets', admin)).toEqual({
    status: 200,
    body: { self: '/wallets', kind: 'WalletPage', pageOf: '/wallets', contents: [] },
  })
  expect((await send('GET /did-registrar/dids', tenant)).status).toBe(401)

  const wallet = await send('POST /wallets', admin, { name: 'my-wallet', seed: 'ab'.repeat(64) })
  expect(wallet).toMatchObject({ status: 201, body: { name: 'my-wallet' } })
  const entity = await send('POST /iam/entities', admin, {
    name: 'my-tenant',
    walletId: wallet.body.id,
  })
  expect(entity).toMatchObject({
    status: 201,
    body: { kind: 'Entity', name: 'my-tenant', walletId: wallet.body.id },
  })
  const entityId = entity.body.id
  expect(
    await send('POST /iam/apikey-authentication', admin, { entityId, apiKey: 'my-tenant-api-key' }),
  ).toEqual({
    status: 201,
    body: undefined,
  })

  expect(await send('GET /did-registrar/dids', tenant)).toMatchObject({
    status: 200,
    body: { contents: [] },
  })
  expect(await send('GET /wallets', tenant)).toMatchObject({
    status: 200,
    body: { contents: [wallet.body] },
  })
})
