/**
 * The deferred credential endpoint (VCI §9): the wallet fetches a credential after the issuer has approved
 * its request.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { findRecord } from '../engine/find.ts'
import { type CredentialRecord, issueCredential } from '../issuance/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { authorize, type Presented } from './access-token.ts'
import { toResponse, toSent, type Sent } from './credential.ts'
import { openRequest, readResponseEncryption } from './encryption.ts'
import { issueDeferred } from './issue.ts'
import type { IssuerRow } from './issuers.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

export const DeferredCredentialRequest = z
  .looseObject({
    transaction_id: z.string(),
    credential_response_encryption: z.unknown().optional(),
  })
  .meta({ id: 'DeferredCredentialRequest' })

/** How long the credential can be fetched again, in milliseconds. */
const repeatMs = 600_000

/**
 * The credentials, or the request to wait. The transaction ends when the wallet notifies the issuer that it
 * has the credential, or ten minutes after it has fetched it (VCI §8.3, §9.1). Until then it gets the same
 * credential again, because a response may be lost.
 *
 * @throws {OAuthError} `invalid_transaction_id`, `credential_request_denied`
 */
export async function issueDeferredToWallet(
  wallet: Wallet,
  issuer: IssuerRow,
  { body, ...presented }: Presented & { body: unknown },
): Promise<Sent> {
  const { recordIds, refreshed } = await authorize(wallet, issuer, 'deferred-credentials', presented)
  const opened = await openRequest(wallet, issuer, body)
  const { success, data } = DeferredCredentialRequest.safeParse(opened.body)
  if (!success) throw new OAuthError('invalid_credential_request', 'transaction_id is missing.')
  const { credential_response_encryption: encryption } = data
  const seal = await readResponseEncryption(issuer, encryption, opened.isEncrypted)
  const { transaction_id: id } = data
  const record = recordIds.includes(id) ? await findRecord(wallet.db, issueCredential, id) : undefined
  if (!record || !isFor(record, refreshed))
    throw new OAuthError(
      'invalid_transaction_id',
      'The access token is not for this transaction, or the transaction is over.',
    )
  return toSent(await toResponse(wallet, id, await issueDeferred(wallet, id, refreshed)), seal)
}

/** Whether a token is for the transaction of a record, and that goes on. */
function isFor(record: CredentialRecord, refreshed: string | undefined): boolean {
  const { state, renewing, renewed, requestedKeys, notification } = record
  const isRenewal = renewing !== undefined || (renewed?.count ?? 0) > 0
  if (isRenewal && refreshed === undefined) return false
  if (renewing) return true
  const isOld = state === 'CredentialSent' && isOver(Date.parse(record.updatedAt!) + repeatMs)
  return requestedKeys !== undefined && !notification && !isOld
}
