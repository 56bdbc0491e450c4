/** The claims of a presentation that must equal those of an offer: they decide who gets it. */
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../../foundation/storage/database.ts'
import { OAuthError, toFailure } from '../../../foundation/oauth/oauth-error.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { advance, updateData } from '../../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import { type CheckedRequest, getOpenRecords, requireGrant } from '../authorization-request.ts'
import { valueAt } from '../claims-origins.ts'
import { accessOf } from '../configuration-access.ts'
import { findConfiguration } from '../configurations.ts'
import { recordIdsOf, updateGrant } from '../grant.ts'
import { logRefusal } from '../request-log.ts'
import { useRequest } from '../sealed-request.ts'
import type { Presented } from './presented.ts'

/**
 * The records of the offer of a request, which the presentation has to match. One that does not is counted
 * once, and the last one that may fail blocks the offer.
 *
 * @throws {OAuthError} `access_denied`; {ClosedRequest} for an offer that is not open
 */
export async function getMatched(
  wallet: Wallet,
  request: CheckedRequest,
  { presentationId, presented }: { presentationId: string; presented: Presented },
): Promise<CredentialRecord[]> {
  const grant = await requireGrant(wallet.db, request)
  const records = await getOpenRecords(wallet.db, grant, request.recordIds)
  const mismatch = await findMismatch(wallet, records, presented)
  if (mismatch === undefined) return records
  // A wrong presentation counts also in a full wallet.
  throw await wallet.transaction((tx) => countMismatch(tx, request, { presentationId, mismatch }), {
    isBounded: true,
  })
}

/** The path of an offered claim that the presentation does not have, or with another value. */
async function findMismatch(
  { env }: Wallet,
  records: readonly CredentialRecord[],
  { claims }: Presented,
): Promise<string | undefined> {
  for (const { openid4vci, claims: offered } of records) {
    const { issuerId, configurationId } = openid4vci!
    const configuration = await findConfiguration(env.db, issuerId, configurationId)
    const { presentation } = configuration ? accessOf(configuration) : {}
    for (const { presented: path, offered: own } of presentation?.match ?? []) {
      const value = valueAt(claims, path)
      if (value === undefined || !isDeepStrictEqual(value, valueAt(offered, own))) return own.join('.')
    }
  }
  return undefined
}

async function countMismatch(
  tx: Tx,
  request: CheckedRequest,
  { presentationId, mismatch }: { presentationId: string; mismatch: string },
): Promise<OAuthError> {
  const grant = await requireGrant(tx, request)
  const records = await getOpenRecords(tx, grant, recordIdsOf(grant))
  const isFirst = await useRequest(tx, { id: `match ${presentationId}` })
  const guesses = isFirst ? grant.guesses - 1 : grant.guesses
  const isLast = guesses === 0
  const left = isLast
    ? 'The offer is blocked.'
    : `The offer stays open. ${guesses} more may fail, then it is blocked.`
  const refusal = new OAuthError(
    'access_denied',
    `The presentation is not of the person whom the offer is for: ${mismatch} does not match. ${left}`,
  )
  if (!isFirst) return refusal
  await updateGrant(tx, grant.id, { guesses })
  await logRefusal(tx, records[0]!, 'presentation', refusal)
  const metaLastFailure = toFailure(refusal)
  for (const record of records)
    if (isLast) await advance(tx, issueCredential, record, 'refused presentation', { metaLastFailure })
    else await updateData(tx, record, { metaLastFailure })
  return refusal
}
