/** `/oid4vci`: the delivery of offers, for the tenant, and the page of a delivered link. */
import * as z from 'zod'
import { makeWalletLink, readDelivered } from '../../src/exchange/oid4vci/delivered-link.ts'
import { reportDelivery } from '../../src/exchange/oid4vci/delivery.ts'
import { DeliveryReport } from '../../src/exchange/issuance/delivery.ts'
import { IssueCredentialRecord, toCredentialRecord } from '../../src/exchange/issuance/model.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { route } from '../http/route.ts'
import { replyPage } from '../pages/reply.ts'
import { assertOwnPage, FormHeaders, forPeople, withIssuer } from './_oid4vci.ts'

const path = { issuerId: Uuid, secret: z.string().max(100).describe('The secret of the link.') }

export default [
  route(
    'GET /oid4vci/issuers/{issuerId}/d/{secret}',
    {
      summary: 'Show a delivered offer, with a button for the wallet; a page in a browser',
      operationId: 'showDeliveredOffer',
      extension: true,
      ...forPeople,
      path,
    },
    ({ agent }, { path: { issuerId, secret }, ...input }) =>
      replyPage(input, async ({ deliveredPage }, texts) => {
        const delivered = await withIssuer(agent, issuerId, (wallet, issuer) =>
          readDelivered(wallet, issuer, secret),
        )
        const content = await delivered.inLanguage(texts.language)
        return deliveredPage(texts, { ...delivered, ...content, host: new URL(agent.env.urls.rest).host })
      }),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/d/{secret}',
    {
      summary: 'Make the link for the wallet, with the form of the page of a delivered offer',
      operationId: 'openDeliveredOffer',
      extension: true,
      ...forPeople,
      path,
      headers: FormHeaders,
    },
    ({ agent }, { path: { issuerId, secret }, headers, ...input }) =>
      replyPage(input, async ({ offerPage }, texts) => {
        assertOwnPage(headers, agent.env.urls.rest)
        const delivered = await withIssuer(agent, issuerId, (wallet, issuer) =>
          makeWalletLink(wallet, issuer, secret),
        )
        const content = await delivered.inLanguage(texts.language)
        const { host } = new URL(agent.env.urls.rest)
        return offerPage(texts, { ...delivered, ...content, host, isLive: false })
      }),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/deliveries/{deliveryId}',
    {
      summary: 'Say whether a message of an offer was sent',
      operationId: 'reportCredentialOfferDelivery',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path: { issuerId: Uuid, deliveryId: Uuid.describe('The id of the event that asked for the message.') },
      body: DeliveryReport,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet, agent: { db } }, { path: ids, body }) =>
      toCredentialRecord(await reportDelivery({ db, wallet }, ids, body)),
  ),
] as const
