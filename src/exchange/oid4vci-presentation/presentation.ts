/** A presentation that an issuance needs, and the browser that it belongs to. */
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findRecord } from '../engine/find.ts'
import { cookieIn } from '../oid4vci/log-in/state.ts'
import type { RequestRecord } from '../oid4vp/authorization-request.ts'
import { presentProof } from '../presentation/model.ts'

type Stored = RequestRecord['openid4vp']

/** The record of a presentation for an issuance. */
export type IssuancePresentation = RequestRecord & {
  openid4vp: Stored & { issuance: NonNullable<Stored['issuance']> }
}

/** The presentation does not belong to this browser. The wallet is not told: it is not known which one asked. */
export class LostPresentation extends OAuthError {
  constructor() {
    super(
      'invalid_request',
      'The presentation cannot be continued here: it was begun in another browser, or this one keeps no cookies.',
    )
  }
}

/** The presentation that this browser has begun. @throws {LostPresentation} */
export async function getBegun(
  wallet: Wallet,
  { id, cookies }: { id: string; cookies: string | undefined },
): Promise<IssuancePresentation> {
  const record = await findRecord(wallet.db, presentProof, id)
  const { issuance } = record?.openid4vp ?? {}
  const secret = cookieIn(wallet, cookies)
  if (!issuance || secret === undefined) throw new LostPresentation()
  if (digestOf(secret) !== issuance.browser) throw new LostPresentation()
  return record as IssuancePresentation
}
