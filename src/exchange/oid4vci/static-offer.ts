/**
 * Offers that never end and have no secret (VCI §4.1.1): of credentials that wallets may ask for without
 * another offer.
 */
import { Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { isOpenTo } from './configuration-access.ts'
import { configurationsOf } from './configurations.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import type { OfferObject } from './offer-object.ts'
import { type InLanguage, showOffer } from './page-content.ts'

/** In the URL of an offer: every such credential of the issuer. */
const all = 'all'

export type StaticOffer = { offer: OfferObject; url: string; inLanguage: InLanguage }

/** @throws {Problem} 404 for a credential that needs an offer */
export async function readStaticOffer(
  { env }: Wallet,
  issuer: IssuerRow,
  configurationId: string,
): Promise<StaticOffer> {
  const open = (await configurationsOf(env.db, issuer.id)).filter((row) => isOpenTo(row, issuer))
  const chosen = configurationId === all ? open : open.filter(({ id }) => id === configurationId)
  if (chosen.length === 0)
    throw new Problem(
      'NotFound',
      'The issuer has no such credential that wallets may ask for without an offer.',
    )
  const identifier = identifierOf(env.urls.rest, issuer.id)
  const ids = chosen.map(({ id }) => id)
  return {
    offer: {
      credential_issuer: identifier,
      credential_configuration_ids: ids,
      grants: { authorization_code: {} },
    },
    url: `${identifier}/offers/${encodeURIComponent(configurationId)}`,
    inLanguage: showOffer(env, issuer, ids),
  }
}
