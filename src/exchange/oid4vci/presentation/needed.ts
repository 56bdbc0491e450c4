/** The presentation that the credentials of an authorization request need, and whether the request has it. */
import { isDeepStrictEqual } from 'node:util'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { findRecord } from '../../engine/find.ts'
import { presentProof } from '../../presentation/model.ts'
import { type CheckedRequest, ClosedRequest } from '../authorization-request.ts'
import { accessOf } from '../configuration-access.ts'
import { findConfiguration } from '../configurations.ts'
import { findRecords } from '../grant.ts'
import type { IssuerRow } from '../issuers.ts'
import { configurationsIn } from '../offer-object.ts'
import { isVerified, type Presented, toPresented } from './presented.ts'
import type { PresentationSettings } from './settings.ts'

/** The request to a wallet. Which claims match those of an offer is not part of it. */
export type NeededPresentation = Omit<PresentationSettings, 'match'>

/**
 * Undefined if no requested credential needs a presentation.
 *
 * @throws {OAuthError} if two need different ones
 */
export async function neededFor(
  { db, env }: Wallet,
  { id: issuerId }: Pick<IssuerRow, 'id'>,
  { configurationIds, recordIds }: Pick<CheckedRequest, 'configurationIds' | 'recordIds'>,
): Promise<NeededPresentation | undefined> {
  const all: NeededPresentation[] = []
  for (const id of configurationIds ?? configurationsIn(await findRecords(db, recordIds))) {
    const configuration = await findConfiguration(env.db, issuerId, id)
    const { presentation } = configuration ? accessOf(configuration) : {}
    if (!presentation) continue
    const { match: _, ...needed } = presentation
    all.push(needed)
  }
  if (!all.every((each) => isDeepStrictEqual(each, all[0])))
    throw new OAuthError(
      'invalid_request',
      'The requested credentials need different presentations. Request one of them alone.',
    )
  return all[0]
}

/**
 * What was presented for a request. Undefined if its credentials need no presentation.
 *
 * @throws {ClosedRequest} without the presentation that they need now
 */
export async function presentedFor(
  wallet: Wallet,
  issuer: Pick<IssuerRow, 'id'>,
  request: CheckedRequest,
): Promise<Presented | undefined> {
  const needed = await neededFor(wallet, issuer, request)
  if (!needed) return undefined
  const { presentationId: id } = request
  const record = id === undefined ? undefined : await findRecord(wallet.db, presentProof, id)
  const { dcqlQuery, issuers } = record?.openid4vp ?? {}
  const isNeeded = isDeepStrictEqual([dcqlQuery, issuers], [needed.dcqlQuery, needed.issuers])
  if (!record || !isVerified(record) || !isNeeded)
    throw new ClosedRequest(
      'invalid_request',
      'The credential needs another presentation by now, or its presentation was removed. Start again in the wallet.',
    )
  return toPresented(record)
}
