/**
 * The link of a delivered offer: a page whose button makes the link for the wallet. Opening the page changes
 * nothing, since mail scanners open links too. The code or the `issuer_state` is valid for a short time (VCI
 * §4.1.1); another press of the button makes a new one.
 */
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import {
  findGrantById,
  findRecords,
  type GrantRow,
  type GrantSecrets,
  isOpen,
  newIssuerState,
  openSecrets,
  recordIdsOf,
  sealSecrets,
  updateGrant,
} from './grant.ts'
import type { IssuerRow } from './issuers.ts'
import { configurationsIn, toOffer, valueLink } from './offer-object.ts'
import { type InLanguage, showOffer } from './page-content.ts'

const [lifetimeMs, againMs] = [600_000, 60_000]

/** The end of a code or an `issuer_state` that is made now. */
export const newEnd = () => Date.now() + lifetimeMs

/** A delivered offer as its page shows it. */
export type Delivered = { inLanguage: InLanguage; hasTxCode: boolean; endsAt: Date }

/** Reads the page. @throws {Problem} 404; 410 if the offer was redeemed or has ended */
export async function readDelivered(wallet: Wallet, issuer: IssuerRow, secret: string): Promise<Delivered> {
  return toDelivered(wallet, issuer, await getDelivered(wallet, wallet.db, issuer, secret))
}

/** Makes the link for the wallet. A second press within a minute, as of a double click, gets the same one. */
export async function makeWalletLink(
  wallet: Wallet,
  issuer: IssuerRow,
  secret: string,
): Promise<Delivered & { link: string }> {
  const known = await getDelivered(wallet, wallet.db, issuer, secret)
  await wallet.env.limitOffers(known.grant.id)
  const { found, secrets } = await wallet.transaction(
    async (tx) => {
      const found = await getDelivered(wallet, tx, issuer, secret)
      if ((found.secrets.endsMs ?? 0) > newEnd() - againMs) return { found, secrets: found.secrets }
      const { grant } = found
      const isPreAuthorized = found.secrets.code !== undefined
      const made = isPreAuthorized ? { code: newSecret() } : { issuerState: newIssuerState(issuer.id) }
      const secrets: GrantSecrets = { ...found.secrets, ...made, endsMs: newEnd() }
      await updateGrant(tx, grant.id, {
        sealed: sealSecrets(wallet, recordIdsOf(grant)[0]!, secrets),
        ...(secrets.code !== undefined
          ? { code_digest: digestOf(secrets.code) }
          : { state_digest: digestOf(secrets.issuerState!) }),
      })
      return { found, secrets }
    },
    // The row is there already, so a person can take the offer of a full wallet.
    { isBounded: true },
  )
  const configurationIds = configurationsIn(found.records)
  const link = valueLink(toOffer(wallet.env.urls.rest, issuer, configurationIds, secrets))
  return { ...toDelivered(wallet, issuer, found), link, endsAt: new Date(secrets.endsMs!) }
}

type Found = { grant: GrantRow; records: CredentialRecord[]; secrets: GrantSecrets }

async function getDelivered(wallet: Wallet, db: Db, issuer: IssuerRow, secret: string): Promise<Found> {
  const rows = db.selectFrom('offer_delivery').select('grant_id')
  const row = await rows.where('link_digest', '=', digestOf(secret)).executeTakeFirst()
  const grant = row && (await findGrantById(db, row.grant_id))
  if (grant?.issuer_id !== issuer.id)
    throw new Problem('NotFound', 'There is no such link of an offer. Ask the sender for a new one.')
  const records = await findRecords(db, recordIdsOf(grant))
  const secrets = openSecrets(wallet, grant)
  if (!secrets || records.length === 0 || !records.every(isOpen))
    throw new Problem(
      'error:ShortLinkError:LinkClosed',
      'The offer was redeemed, or it has ended. Ask the sender for a new one.',
    )
  return { grant, records, secrets }
}

function toDelivered({ env }: Wallet, issuer: IssuerRow, { records, secrets }: Found): Delivered {
  return {
    inLanguage: showOffer(env, issuer, configurationsIn(records)),
    hasTxCode: secrets.txCode !== undefined,
    endsAt: new Date(records[0]!.openid4vci!.expiresTime * 1_000),
  }
}
