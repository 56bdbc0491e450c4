/** The record of a received offer: one for each offer, also if its link is opened twice. */
import { newId } from '../../../foundation/id.ts'
import { formatOfId } from '../../../definitions/format-names.ts'
import { digestOf } from '../../../foundation/oauth/secrets.ts'
import { findByThread } from '../../engine/find.ts'
import { begin } from '../../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { sealSecrets, type Secrets } from './secrets.ts'

/** The states before the end. */
const open: readonly CredentialRecord['state'][] = [
  'OfferReceived',
  'AuthorizationPending',
  'RequestPending',
  'CredentialDeferred',
]

/**
 * Stores an offer. The same one again is the same record, until that has ended. After that, an issuer may
 * accept the code once more.
 */
export async function storeOffer(
  wallet: Wallet,
  stored: Omit<StoredOpenId4VciOffer, 'sealed'>,
  secrets: Secrets,
): Promise<CredentialRecord> {
  const id = newId()
  const data = issueCredential.model.parse({
    credentialFormat: formatOfId(stored.format),
    claims: {},
    schemaIds: [],
    receivedOffer: { ...stored, sealed: sealSecrets(wallet, id, secrets) },
  })
  return wallet.transaction(async (tx) => {
    let thid = threadOf(stored, secrets) ?? id
    for (let known; (known = await findByThread(tx, issueCredential, 'Holder', thid));) {
      if (open.includes(known.state)) return known
      thid = digestOf(`${thid} ${known.id}`)
    }
    const on = 'POST /issue-credentials/records/openid4vci'
    return begin(tx, issueCredential, 'Holder', on, { id, thid, data })
  })
}

/**
 * The same for the same offer, received with the same choices. Undefined for an offer that may be made to
 * several people.
 */
function threadOf(
  stored: Omit<StoredOpenId4VciOffer, 'sealed'>,
  { preAuthorizedCode, issuerState }: Secrets,
): string | undefined {
  const secret = preAuthorizedCode ?? issuerState
  return secret && digestOf(JSON.stringify([{ ...stored, calls: [] }, secret]))
}
