/** The DIDs of this wallet that answer for it: its did:peer, its did:prism and its did:web. */
import { Problem } from '../base/problem.ts'
import type { PrivateJwk } from '../crypto/keys.ts'
import { keysFor } from '../did/document.ts'
import { getOwnDid, isOwnDid } from '../did-registrar/dids.ts'
import { getSigningKey } from '../did-registrar/keys.ts'
import { findFirstPeerKey, isOwnPeerDid } from '../wallet/peer-dids.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Product } from './states.ts'

/** A DID of the wallet in the form that others can resolve. @throws {Problem} 404 */
export async function findOwnDid(wallet: Wallet, did: string): Promise<string> {
  if (await isOwnPeerDid(wallet.db, did)) return did
  if (!isRegistrars(did) || !(await isOwnDid(wallet.db, did))) throw notOwn('onboard', did)
  return shownForm(wallet, did)
}

/** A DID of the wallet and a key that signs for it. @throws {Problem} 404 when it is not the wallet's, 400 when it has no key for authentication. */
export async function findSigner(
  wallet: Wallet,
  did: string,
): Promise<{ did: string; privateJwk: PrivateJwk }> {
  if (await isOwnPeerDid(wallet.db, did)) {
    const kids = keysFor(await wallet.env.resolver.document(did), 'authentication').map(({ id }) => id)
    const key = await findFirstPeerKey(wallet, kids)
    if (key) return { did, privateJwk: key.privateJwk }
  }
  if (!isRegistrars(did) || !(await isOwnDid(wallet.db, did))) throw notOwn('authenticate', did)
  const { privateJwk } = await getSigningKey(wallet, did, 'authentication', undefined, 'Ed25519')
  return { did: await shownForm(wallet, did), privateJwk }
}

/** Whether a DID is of a method that the wallet makes with keys of its choosing. */
const isRegistrars = (did: string) => /^did:(prism|web):/.test(did)

/** While nobody else can resolve the short form, only the long form says anything. */
async function shownForm(wallet: Wallet, didRef: string): Promise<string> {
  const { did, longForm, status } = await getOwnDid(wallet.db, didRef)
  return status === 'PUBLISHED' ? did : longForm
}

function notOwn(product: Product, did: string): Problem {
  return new Problem(
    `/errors/${product}/did-not-in-wallet`,
    `did: ${did.slice(0, 100)} is not a DID of this wallet.`,
  )
}
