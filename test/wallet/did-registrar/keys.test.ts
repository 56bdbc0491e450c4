/** Key derivation of new DIDs. */
import { expect, test } from 'vitest'
import { fromBase64 } from '../../../src/foundation/bytes.ts'
import type { PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import { createKeys } from '../../../src/wallet/did-registrar/keys.ts'
import { usages } from '../../../src/did/prism/model.ts'
import { sharedAgent } from '../../support/agent.ts'

const hasZero = ({ x, y }: PublicJwk) => [x, y!].some((coordinate) => fromBase64(coordinate)[0] === 0)

test.each(['assertionMethod', 'master'] as const)(
  '%s: a key with a coordinate that starts with a zero byte is skipped, unless it is the master key',
  async (usage) => {
    const agent = await sharedAgent()
    const { walletId } = await agent.newTenant()
    await agent.agent.wallets.use(walletId, async (wallet) => {
      const hasZeroAt = (keyIndex: number) =>
        hasZero(wallet.deriveKey({ didIndex: 0, usage: usages[usage], keyIndex }))
      let first = 0
      while (!hasZeroAt(first)) first++
      let next = first
      while (hasZeroAt(next)) next++
      const wanted = ['a', 'b'].map((id) => ({ id, usage, curve: 'secp256k1' }) as const)
      const [key, after] = await createKeys(wallet, 0, wanted, new Map([[usage, first]]))
      expect(key!.keyIndex).toBe(usage === 'master' ? first : next)
      expect(after!.keyIndex).toBeGreaterThan(key!.keyIndex!)
    })
  },
)
