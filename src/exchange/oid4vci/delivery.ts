/**
 * The delivery of an offer: events that ask the tenant to send its person a link, and a transaction code on
 * another channel. The agent sends no messages itself.
 */
import type { DeliveryEvent } from '../../definitions/event-subjects.ts'
import { Problem } from '../../foundation/problem.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import type { AgentDb, Db, Tx } from '../../foundation/storage/database.ts'
import { appendEvent } from '../../wallet/events/event.ts'
import { hidden, secretContext } from '../../wallet/events/secret-events.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { updateData, updateWithEvent } from '../engine/record.ts'
import type { Deliver, DeliveryReport, Message, OfferDelivery } from '../issuance/delivery.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import { findConfiguration } from './configurations.ts'
import { languagesOf, toMessage, type Words } from './delivery-texts.ts'
import { nameOf } from './display.ts'
import { findGrantById, findRecords, type GrantSecrets, isOpen, openSecrets, recordIdsOf } from './grant.ts'
import { getOwnIssuer, identifierOf, type IssuerRow } from './issuers.ts'
import type { CreateOpenIdCredentialOffer } from './offer-members.ts'

/**
 * Checks how a new offer is delivered.
 *
 * @throws {Problem} 400 if it has no code to send, is in a language without messages, or sends link and code
 * to one address, where both can be read together (VCI §13.6.2)
 */
export function checkDelivery(
  issuer: IssuerRow,
  { deliver, byReference }: Pick<CreateOpenIdCredentialOffer, 'deliver' | 'byReference'>,
  { txCode, issuerState, isMatched }: GrantSecrets & { isMatched: boolean },
): void {
  if (!deliver) return
  const { to, code, locale } = deliver
  if (byReference === true)
    throw new Problem('BadRequest', 'byReference: the delivered link is a page already. Leave it out.')
  const languages = languagesOf(issuer)
  if (locale !== undefined && !languages.includes(locale))
    throw new Problem(
      'BadRequest',
      `deliver.locale: the issuer has no messages in ${locale}. It has them in ${languages.join(', ')}. Add a language: agent issuer update --delivery-texts`,
    )
  if (code === undefined) return
  if (txCode === undefined)
    throw new Problem(
      'BadRequest',
      'deliver.code: the offer has no transaction code. Leave it out, or set txCode to true.',
    )
  const isProtected = (issuer.log_in !== null && issuerState !== undefined) || isMatched
  if (to.toLowerCase() === code.toLowerCase() && !isProtected)
    throw new Problem(
      'BadRequest',
      'deliver.code: link and code would go to the same address, where whoever reads one has both. Give another address, or require a log-in (agent issuer update --log-in), or a presentation that matches the claims.',
    )
}

/** What the messages of an offer say, except for the link and the code. */
export async function wordsOf(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuer: IssuerRow,
  records: readonly Pick<CredentialRecord, 'openid4vci'>[],
): Promise<Omit<Words, 'until'>> {
  const names = new Set<string>()
  for (const { openid4vci } of records) {
    const id = openid4vci!.configurationId
    const configuration = await findConfiguration(db, issuer.id, id)
    names.add((configuration && nameOf(configuration)) ?? id)
  }
  const host = new URL(wallet.env.urls.rest).host
  return { name: [...names].join(', '), issuer: nameOf(issuer) ?? host }
}

type Requested = {
  issuer: IssuerRow
  record: CredentialRecord
  deliver: Deliver
  secrets: GrantSecrets
  words: Omit<Words, 'until'>
}

/**
 * Asks the webhooks that deliver to send the messages of an offer, with a new link.
 *
 * @throws {Problem} 409 if there is no such webhook
 */
export async function requestDelivery(
  tx: Tx,
  wallet: Wallet,
  { issuer, record, deliver: { to, code, locale = 'en' }, secrets, words }: Requested,
): Promise<CredentialRecord> {
  const receiver = await tx.selectFrom('webhook').select('id').where('deliver', '=', 1).executeTakeFirst()
  if (!receiver)
    throw new Problem(
      'Conflict',
      'deliver: no webhook sends messages for this wallet. Add one: agent webhook add <url> --deliver',
    )
  const { issuerId, expiresTime } = record.openid4vci!
  const ends = new Date(expiresTime * 1_000)
  const format = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  const filled = { ...words, until: `${format.format(ends)} UTC` }
  const about = { recordId: record.id, issuerId, locale, until: ends.toISOString(), status: 'requested' }
  const secret = newSecret()
  const url = `${identifierOf(wallet.env.urls.rest, issuerId)}/d/${secret}`
  const link = await emit(tx, wallet, record.thid, {
    type: 'OfferDeliveryRequested',
    linkDigest: digestOf(secret),
    shown: { ...about, to, url: hidden },
    whole: { ...about, to, url, ...toMessage(issuer, 'link', locale, { ...filled, url }) },
  })
  const { txCode } = secrets
  const sent =
    code === undefined || txCode === undefined
      ? undefined
      : await emit(tx, wallet, record.thid, {
          type: 'TransactionCodeDeliveryRequested',
          linkDigest: null,
          shown: { ...about, to: code, code: hidden },
          whole: {
            ...about,
            to: code,
            code: txCode,
            ...toMessage(issuer, 'code', locale, { ...filled, code: txCode }),
          },
        })
  const delivery: OfferDelivery = { locale, link, ...(sent && { code: sent }) }
  await updateData(tx, record, { delivery })
  return { ...record, delivery }
}

type Emitted = {
  type: DeliveryEvent
  linkDigest: string | null
  /** The data in the log, and with the secrets. */
  shown: { to: string; [member: string]: unknown }
  whole: object
}

async function emit(
  tx: Tx,
  wallet: Wallet,
  grantId: string,
  { type, linkDigest, shown, whole }: Emitted,
): Promise<Message> {
  const id = await appendEvent(tx, { type, subject: grantId, data: shown })
  await tx
    .insertInto('offer_delivery')
    .values({
      id,
      grant_id: grantId,
      link_digest: linkDigest,
      sealed: wallet.seal(secretContext(id), JSON.stringify(whole)),
    })
    .execute()
  return { id, to: shown.to, status: 'requested', at: new Date().toISOString() }
}

/**
 * Asks for the messages of an open offer once more.
 *
 * @throws {Problem} 404; 409 if the offer is not open, or is not delivered, and as `requestDelivery`
 */
export async function repeatDelivery(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  recordId: string,
): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const { delivery } = record
  if (!delivery)
    throw new Problem(
      'Conflict',
      `The offer of the record ${recordId} is not delivered by messages. Make one with deliver: agent credential offer --oid4vci --deliver <address>`,
    )
  const issuer = await getOwnIssuer(db, wallet.id, record.openid4vci!.issuerId)
  const grant = await findGrantById(wallet.db, record.thid)
  const secrets = grant && openSecrets(wallet, grant)
  if (!grant || !secrets || !isOpen(record))
    throw new Problem('Conflict', 'The offer was redeemed, or it has ended. Make a new one.')
  const words = await wordsOf({ db, wallet }, issuer, await findRecords(wallet.db, recordIdsOf(grant)))
  const { locale, link, code } = delivery
  const deliver = { to: link.to, code: code?.to, locale }
  return wallet.transaction((tx) => requestDelivery(tx, wallet, { issuer, record, deliver, secrets, words }))
}

/**
 * Stores what became of a message. Once it was sent, its secrets are forgotten.
 *
 * @throws {Problem} 404 for a message that is unknown, or that was asked for once more
 */
export async function reportDelivery(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  { issuerId, deliveryId }: { issuerId: string; deliveryId: string },
  { status, reason }: DeliveryReport,
): Promise<CredentialRecord> {
  await getOwnIssuer(db, wallet.id, issuerId)
  return wallet.transaction(async (tx) => {
    const record = await findDelivered(tx, issuerId, deliveryId)
    const kind = (['link', 'code'] as const).find((each) => record?.delivery?.[each]?.id === deliveryId)
    if (!record?.delivery || !kind)
      throw new Problem(
        'NotFound',
        `The issuer has no delivery ${deliveryId}, or it was asked for once more since. The record has the ids of the last ones.`,
      )
    const { to } = record.delivery[kind]!
    const message: Message = {
      id: deliveryId,
      to,
      status,
      ...(reason !== undefined && { reason }),
      at: new Date().toISOString(),
    }
    const change = { delivery: { ...record.delivery, [kind]: message } }
    await updateWithEvent(tx, issueCredential, record, change)
    if (status === 'sent')
      await tx.updateTable('offer_delivery').set({ sealed: null }).where('id', '=', deliveryId).execute()
    return { ...record, ...change }
  })
}

/** The first record of the offer that a message is for. */
async function findDelivered(db: Db, issuerId: string, id: string): Promise<CredentialRecord | undefined> {
  const row = await db.selectFrom('offer_delivery').select('grant_id').where('id', '=', id).executeTakeFirst()
  const grant = row && (await findGrantById(db, row.grant_id))
  if (grant?.issuer_id !== issuerId) return undefined
  return (await findRecords(db, recordIdsOf(grant)))[0]
}
