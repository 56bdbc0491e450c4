/** Keys that credentials are bound to: found by `cnf.jwk`, and different for each credential. */
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import {
  createHolderKeys,
  findHolderKey,
  getHolderKeys,
} from '../../../src/wallet/did-registrar/holder-key.ts'
import { startAgent } from '../../support/agent-from-sources.ts'

test('a key is found by its public half, also with further members', async () => {
  await using agent = await startAgent({ API_KEY_AUTO_PROVISIONING: 'true' })
  const [walletId] = await agent.agent.wallets.ids()
  await agent.agent.wallets.use(walletId!, async (wallet) => {
    const [did, other] = await createHolderKeys(wallet, 2)
    expect(other).not.toBe(did)
    const [key] = await getHolderKeys(wallet, [did!])
    const published = { ...toPublic(key!.privateJwk), kid: 'any', alg: 'ES256', use: 'sig' }
    expect(await findHolderKey(wallet, published)).toEqual(key)
    expect(await findHolderKey(wallet, toPublic(generateKey('P-256')))).toBeUndefined()
  })
})
