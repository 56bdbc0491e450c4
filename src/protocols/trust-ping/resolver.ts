/** Whose documents are read for messages from and to one of our DIDs. */
import type { Resolve } from '../../did/document.ts'
import { peerDidsOnly } from '../../didcomm/route.ts'
import type { Wallet } from '../../wallet/wallet.ts'

/**
 * Resolves did:peer, and beside them the one DID that `ourDid` was made to ping: the wallet's owner named that one, so no message
 * decides what is resolved.
 */
export function resolverOf({ db, env }: Wallet, ourDid: string): Resolve {
  const { document } = env.resolver
  const resolvePeer = peerDidsOnly(document)
  return async (did) => {
    if (did.startsWith('did:peer:')) return resolvePeer(did)
    const ping = await db
      .selectFrom('ping')
      .select('id')
      .where('my_did', '=', ourDid)
      .where('their_did', '=', did)
      .executeTakeFirst()
    return ping ? document(did) : resolvePeer(did)
  }
}
