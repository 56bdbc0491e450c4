/** How a renewal begins: planned when a credential is received, or when the wallet is asked for it. */
import * as z from 'zod'
import { Problem } from '../../../foundation/problem.ts'
import { optional } from '../../../wallet/model.ts'
import { updateWithEvent } from '../../engine/record.ts'
import { issuanceFormats } from '../../issuance/format.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import { dueTimeOf, planRenewal, type Renewal } from '../../issuance/renewal.ts'
import type { Tx } from '../../../foundation/storage/database.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { getOffer, type OfferRecord } from './record.ts'
import { findGrant } from './renewal-grant.ts'
import { maxCopies } from './support.ts'

export const RefreshCredential = z
  .object({
    copies: optional(z.int().min(1).max(maxCopies)).describe(
      'How many copies to ask for, each bound to a key of its own. Default: as many as the last time.',
    ),
  })
  .meta({ id: 'RefreshCredentialRequest' })

/** The renewal of a credential that was received just now. When it is due without a token, an event says so. */
export async function toRenewal(
  tx: Tx,
  wallet: Wallet,
  { id, thid, credentialFormat }: OfferRecord,
  credential: string,
): Promise<Renewal> {
  const state = (await findGrant(tx, wallet, thid)) ? 'possible' : 'none'
  return { state, dueAt: await plan(tx, id, issuanceFormats[credentialFormat].read(credential)) }
}

/** Plans the renewal of a credential, unless it does not end. Returns when it is due. */
export async function plan(
  tx: Tx,
  id: string,
  validity: Parameters<typeof dueTimeOf>[0],
): Promise<string | undefined> {
  const dueAtMs = dueTimeOf(validity)
  if (dueAtMs === undefined) return undefined
  await planRenewal(tx, id, dueAtMs)
  return new Date(dueAtMs).toISOString()
}

/**
 * Begins the renewal of a credential, also of a revoked one. A call while it runs changes nothing.
 *
 * @throws {Problem} 404; 400 for a record without a credential of OpenID4VCI, and for `copies`; `Conflict` if
 * the wallet has no refresh token
 */
export async function refreshCredential(
  wallet: Wallet,
  recordId: string,
  { copies }: z.output<typeof RefreshCredential>,
): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getOffer(tx, recordId)
    const { receivedOffer, state } = record
    if (receivedOffer.renewal?.state === 'running') return record
    if (state !== 'CredentialReceived')
      throw new Problem(
        issueCredential.problems.wrongState,
        `The record ${recordId} is in state ${state} and has no credential to renew.`,
      )
    if (copies !== undefined && copies > 1 && receivedOffer.binding === undefined)
      throw new Problem('BadRequest', 'copies: leave it out. The credential is bound to no key.')
    if (!(await findGrant(tx, wallet, record.thid)))
      throw new Problem(
        'Conflict',
        `The wallet has no refresh token for the credential ${recordId}, so that only a person can renew it. ${
          receivedOffer.grant === 'authorization_code'
            ? 'Receive it again with credentialIssuer and credentialConfigurationId, and remove this record afterwards.'
            : 'Ask the issuer for a new offer, and remove this record afterwards.'
        }`,
      )
    await planRenewal(tx, recordId)
    return start(tx, record, copies)
  })
}

/** Marks a renewal as running. */
export async function start(tx: Tx, record: OfferRecord, copies?: number): Promise<CredentialRecord> {
  const { renewal, copies: usual = 1 } = record.receivedOffer
  const running = { ...renewal, state: 'running', reason: undefined, dueAt: undefined } as const
  const renewing = { startedAt: new Date().toISOString(), copies: copies ?? usual }
  const receivedOffer = { ...record.receivedOffer, renewal: running, renewing }
  await updateWithEvent(tx, issueCredential, record, { receivedOffer })
  return { ...record, receivedOffer }
}
