/**
 * The two representations of an offer: the Credential Offer object for the wallet (VCI §4.1.1), and the reply
 * to the issuer.
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { encodeParameters, preAuthorizedGrant } from '../../foundation/oauth/parameters.ts'
import { findByShortId } from '../engine/find.ts'
import type { Protocol } from '../engine/protocol.ts'
import { type CredentialData, issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { ChangeTopic } from '../../foundation/storage/tx-context.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import { type InLanguage, showOffer } from './page-content.ts'
import { getOwnIssuer, identifierOf, type IssuerRow } from './issuers.ts'
import {
  credentialIdentifierOf,
  findGrantById,
  findRecords,
  type GrantSecrets,
  isOpen,
  openSecrets,
  recordIdsOf,
} from './grant.ts'

export const OpenIdCredentialOffer = z
  .object({
    credentialOffer: z
      .string()
      .describe(
        'The URL for the wallet: `openid-credential-offer://?…`. Of an offer that is delivered, it ends after ten minutes, and when the person presses the button of the delivered page.',
      ),
    recordId: z.guid().describe('The record of the issuance, of the first credential (extension).'),
    records: z
      .array(
        z.object({
          recordId: z.guid(),
          credentialConfigurationId: z.string(),
          credentialIdentifier: z.string(),
        }),
      )
      .describe('The record of each credential (extension).'),
    expiresAt: z.iso.datetime().describe('The end of the offer (extension).'),
    txCode: z
      .string()
      .optional()
      .describe(
        'The transaction code, unless it is delivered. Only a request with the same Idempotency-Key returns it again (extension).',
      ),
  })
  .meta({ id: 'CredentialOfferResponse' })
export type OpenIdCredentialOffer = z.infer<typeof OpenIdCredentialOffer>

/** The Credential Offer object. */
export const OfferObject = z
  .object({
    credential_issuer: z.string(),
    credential_configuration_ids: z.array(z.string()),
    grants: z.record(z.string(), z.looseObject({})),
  })
  .meta({ id: 'CredentialOffer' })
export type OfferObject = z.infer<typeof OfferObject>

/** An open offer, what its page shows, and what closes its link. */
export type OpenOffer = {
  offer: OfferObject
  inLanguage: InLanguage
  hasTxCode: boolean
  walletId: string
  topic: ChangeTopic
  endsAt: Date
}

/** The offer behind `credential_offer_uri`, while its code can be redeemed. @throws {Problem} 404 */
export async function readOffer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  shortId: string,
): Promise<OpenOffer> {
  const protocols: Readonly<Record<string, Protocol>> = { [issueCredential.name]: issueCredential }
  const record = (await findByShortId(wallet.db, protocols, shortId)) as CredentialRecord | undefined
  if (!record || !isOpen(record)) throw offerNotFound()
  const grant = await findGrantById(wallet.db, record.thid)
  const secrets = grant && openSecrets(wallet, grant)
  if (!secrets) throw offerNotFound()
  const issuer = await getOwnIssuer(db, wallet.id, grant.issuer_id)
  const configurationIds = configurationsIn(await findRecords(wallet.db, recordIdsOf(grant)))
  return {
    offer: toOffer(wallet.env.urls.rest, issuer, configurationIds, secrets),
    inLanguage: showOffer(wallet.env, issuer, configurationIds),
    hasTxCode: secrets.txCode !== undefined,
    walletId: wallet.id,
    topic: `record ${record.id}`,
    endsAt: new Date(record.openid4vci!.expiresTime * 1_000),
  }
}

export function offerNotFound(): Problem {
  return new Problem(
    'NotFound',
    'There is no such credential offer, or it was redeemed or has expired. Ask for a new one.',
  )
}

export function offerUrl(base: string, shortId: string): string {
  return `${base}/o/${shortId}`
}

/** The link for wallets to an offer by reference. */
export function offerLink(url: string): string {
  return `openid-credential-offer://?${encodeParameters({ credential_offer_uri: url })}`
}

/** The link for wallets to an offer by value. */
export function valueLink(offer: OfferObject): string {
  return `openid-credential-offer://?${encodeParameters({ credential_offer: JSON.stringify(offer) })}`
}

/** The ids of the configurations of records, each once. */
export function configurationsIn(records: readonly Pick<CredentialRecord, 'openid4vci'>[]): string[] {
  return [...new Set(records.map(({ openid4vci }) => openid4vci!.configurationId))]
}

/** The reply to the issuer who has made an offer. */
export function toReply(
  { env }: Wallet,
  issuer: IssuerRow,
  records: readonly CredentialRecord[],
  { shortId, secrets }: { shortId: string | undefined; secrets: GrantSecrets },
): OpenIdCredentialOffer {
  const { id: recordId, openid4vci, delivery } = records[0]!
  const base = env.urls.rest
  return {
    credentialOffer:
      shortId === undefined
        ? valueLink(toOffer(base, issuer, configurationsIn(records), secrets))
        : offerLink(offerUrl(base, shortId)),
    recordId,
    records: records.map((record) => ({
      recordId: record.id,
      credentialConfigurationId: record.openid4vci!.configurationId,
      credentialIdentifier: credentialIdentifierOf(record),
    })),
    expiresAt: new Date(openid4vci!.expiresTime * 1_000).toISOString(),
    // A code that is delivered is in that message alone.
    ...(secrets.txCode !== undefined && !delivery?.code && { txCode: secrets.txCode }),
  }
}

/**
 * The same reply once more.
 *
 * @throws {Problem} 409 if the offer was redeemed, since its secrets are gone then
 */
export async function readReply(
  wallet: Wallet,
  issuer: IssuerRow,
  record: CredentialRecord,
): Promise<OpenIdCredentialOffer> {
  const grant = await findGrantById(wallet.db, record.thid)
  const secrets = grant && openSecrets(wallet, grant)
  if (!secrets)
    throw new Problem(
      'Conflict',
      `The offer of the first request with this Idempotency-Key was redeemed. Its record is ${record.id}.`,
    )
  const rows = wallet.db.selectFrom('record').select('short_id').where('id', '=', record.id)
  const { short_id: shortId } = await rows.executeTakeFirstOrThrow()
  const records = await findRecords(wallet.db, recordIdsOf(grant))
  return toReply(wallet, issuer, records, { shortId: shortId ?? undefined, secrets })
}

export function toOffer(
  base: string,
  issuer: IssuerRow,
  configurationIds: string[],
  { code, issuerState, txCodeHint }: GrantSecrets,
): OfferObject {
  const identifier = identifierOf(base, issuer.id)
  const grant = {
    ...(code === undefined ? { issuer_state: issuerState } : { 'pre-authorized_code': code }),
    // A transaction code of the other grant is asked for by the page of the authorization server.
    ...(code !== undefined && txCodeHint && { tx_code: txCodeHint }),
    // VCI §4.1.1: only if the metadata has several servers.
    ...(issuer.authorization_server !== null && {
      authorization_server: code === undefined ? issuer.authorization_server : identifier,
    }),
  }
  return {
    credential_issuer: identifier,
    credential_configuration_ids: configurationIds,
    grants: { [code === undefined ? 'authorization_code' : preAuthorizedGrant]: grant },
  }
}

/** The configurations of records, each once, without those that the issuer has deleted. */
export async function configurationsFor(
  { env }: Wallet,
  { id: issuerId }: IssuerRow,
  records: readonly CredentialData[],
): Promise<ConfigurationRow[]> {
  const found: ConfigurationRow[] = []
  for (const id of configurationsIn(records)) {
    const configuration = await findConfiguration(env.db, issuerId, id)
    if (configuration) found.push(configuration)
  }
  return found
}
