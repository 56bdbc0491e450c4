/** The records of a received offer: the same for each offer, also if its link is opened twice. */
import { newId } from '../../../foundation/id.ts'
import { formatOfId } from '../../../definitions/format-names.ts'
import { digestOf } from '../../../foundation/oauth/secrets.ts'
import { findByThread } from '../../engine/find.ts'
import { begin } from '../../engine/record.ts'
import { issueCredential, type CredentialData, type CredentialRecord } from '../../issuance/model.ts'
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
 * Stores an offer, with a record for each credential, and returns the first. The same offer again has the
 * same record, until that has ended. After that, an issuer may accept the code once more.
 */
export async function storeOffer(
  wallet: Wallet,
  offers: readonly Omit<StoredOpenId4VciOffer, 'sealed'>[],
  secrets: Secrets,
): Promise<CredentialRecord> {
  const records = offers.map((offer) => toInitial(wallet, offer, secrets))
  return wallet.transaction(async (tx) => {
    let thid = threadOf(offers, secrets) ?? records[0]!.id
    for (let known; (known = await findByThread(tx, issueCredential, 'Holder', thid));) {
      if (open.includes(known.state)) return known
      thid = digestOf(`${thid} ${known.id}`)
    }
    const begun: CredentialRecord[] = []
    for (const [place, record] of records.entries())
      begun.push(await begin(tx, issueCredential, 'Holder', received, { ...record, thid, place }))
    return begun[0]!
  })
}

/** What begins the record of a received offer. */
export const received = 'POST /issue-credentials/records/openid4vci'

/** The id and the fields of a new record. */
export function toInitial(
  wallet: Wallet,
  offer: Omit<StoredOpenId4VciOffer, 'sealed'>,
  secrets: Secrets,
): { id: string; data: CredentialData } {
  const id = newId()
  const data = issueCredential.model.parse({
    credentialFormat: formatOfId(offer.format),
    claims: {},
    schemaIds: [],
    receivedOffer: { ...offer, sealed: sealSecrets(wallet, id, secrets) },
  })
  return { id, data }
}

/**
 * The same for the same offer, received with the same choices. Undefined for an offer that may be made to
 * several people.
 */
function threadOf(
  offers: readonly Omit<StoredOpenId4VciOffer, 'sealed'>[],
  { preAuthorizedCode, issuerState }: Secrets,
): string | undefined {
  const secret = preAuthorizedCode ?? issuerState
  return secret && digestOf(JSON.stringify([offers.map((offer) => ({ ...offer, calls: [] })), secret]))
}
