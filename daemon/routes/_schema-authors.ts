/** The access of the schema registry to the DIDs of the caller's wallet. */
import type { Agent } from '../../src/agent.ts'
import { getManagedDid, isManagedDid } from '../../src/did-registrar/dids.ts'
import { getSigningKey } from '../../src/did-registrar/keys.ts'
import { canonicalDid } from '../../src/did/document.ts'
import { signSchema } from '../../src/schemas/proof.ts'
import type { Authors } from '../../src/schemas/registry.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'

/** The DIDs of the wallet as authors. With `signs`, the first assertion key of the author signs the schema. */
export function authorsOf(wallet: Wallet, { env }: Agent, signs: boolean): Authors {
  return {
    owns: (did) => isManagedDid(wallet.db, did),
    resolve: async (did) => env.resolver.document((await getManagedDid(wallet.db, did)).longForm),
    ...(signs && {
      sign: async (authored) => {
        const { keyId, privateJwk } = await getSigningKey(wallet, authored.author, 'assertionMethod')
        const verificationMethod = `${canonicalDid(authored.author)}#${keyId}`
        return signSchema(authored, { verificationMethod, privateJwk, domain: new URL(env.urls.rest).host })
      },
    }),
  }
}
