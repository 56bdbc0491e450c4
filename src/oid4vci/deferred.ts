/** The deferred credential endpoint (VCI §9): the wallet fetches a credential after the issuer has approved its request. */
import * as z from 'zod'
import { getRecord } from '../protocols/engine/find.ts'
import { issueCredential } from '../protocols/issue-credential/model.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { authorize, type Presented } from './access-token.ts'
import { refuseEncryption } from './credential-request.ts'
import { toResponse, type CredentialResponse } from './credential.ts'
import { issueDeferred } from './issue.ts'
import type { IssuerRow } from './issuers.ts'
import { OAuthError } from './oauth-error.ts'

export const DeferredCredentialRequest = z
  .looseObject({
    transaction_id: z.string(),
    credential_response_encryption: z.unknown().optional(),
  })
  .meta({ id: 'DeferredCredentialRequest' })

/**
 * The credentials, or the request to wait. The transaction ends when the wallet notifies the issuer that it has the credential; until then it
 * gets the same credential again, because a response may be lost.
 *
 * @throws {OAuthError} `invalid_transaction_id`, `credential_request_denied`
 */
export async function issueDeferredToWallet(
  wallet: Wallet,
  issuer: IssuerRow,
  { body, ...presented }: Presented & { body: unknown },
): Promise<CredentialResponse> {
  const session = await authorize(wallet, issuer, 'deferred-credentials', presented)
  const { success, data } = DeferredCredentialRequest.safeParse(body)
  if (!success) throw new OAuthError('invalid_credential_request', 'transaction_id is missing.')
  refuseEncryption(data)
  const { requestedKeys, notification } = await getRecord(wallet.db, issueCredential, session.record_id)
  if (data.transaction_id !== session.record_id || !requestedKeys || notification)
    throw new OAuthError(
      'invalid_transaction_id',
      'The access token is not for this transaction, or the transaction is over.',
    )
  return toResponse(session, await issueDeferred(wallet, session.record_id))
}
