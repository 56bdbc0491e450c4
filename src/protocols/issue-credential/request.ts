/** The holder's request, which answers an offer (service §3.2, wire.md 4.2). */
import { Problem } from '../../base/problem.ts'
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { tokenAttachments } from '../attachments.ts'
import { peersOf } from '../peers.ts'
import type { Outgoing } from '../record.ts'
import type { AcceptCredentialOffer, CredentialRecord } from './model.ts'

/**
 * Writes the request for what a record offers, which proves the subject to be the holder's.
 *
 * @throws {Problem} for a DID or a key that cannot be used, and when the connection cannot be used any more.
 */
export async function writeRequest(
  wallet: Wallet,
  record: CredentialRecord,
  { subjectId, keyId }: AcceptCredentialOffer,
): Promise<Outgoing<'request'>> {
  checkMethod(subjectId)
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const { longForm } = await getOwnDid(wallet.db, subjectId)
  const { privateJwk, keyId: kid } = await getSigningKey(wallet, subjectId, 'authentication', keyId)
  const { credentialFormat, domain: audience, challenge: nonce } = record
  const proof = createJwtVp({
    holderDid: longForm,
    holderKey: privateJwk,
    // A key that is named is the one to bind an SD-JWT to (wire.md 4.5).
    ...(keyId !== undefined && { kid }),
    audience,
    nonce,
    credentials: [],
  })
  return { type: 'request', from: myDid, to: theirDid, body: {}, attachments: tokenAttachments(proof, credentialFormat) }
}

/** @throws {Problem} 422 for a DID of a method that no DID of a wallet has (api.md 4.7). */
function checkMethod(did: string): void {
  if (!/^did:(?!prism:|web:)/.test(did)) return
  const detail = `subjectId: ${did.slice(0, 100)} cannot be the subject; it must be a did:prism or did:web of this wallet.`
  throw new Problem('error:CredentialServiceError:UnsupportedDidFormat', detail)
}
