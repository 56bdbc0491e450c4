/** `/issue-credentials`: offers of OpenID4VCI issuers, for the holder, and their delivery, for the issuer. */
import {
  BeginAuthorization,
  beginAuthorization,
  CompleteAuthorization,
  completeAuthorization,
} from '../../src/exchange/oid4vci/holder/authorization.ts'
import { repeatDelivery } from '../../src/exchange/oid4vci/delivery.ts'
import { receiveOffer, ReceiveOpenId4VciOffer } from '../../src/exchange/oid4vci/holder/receive-offer.ts'
import { RefreshCredential, refreshCredential } from '../../src/exchange/oid4vci/holder/begin-renewal.ts'
import { IssueCredentialRecord, toCredentialRecord } from '../../src/exchange/issuance/model.ts'
import * as z from 'zod'
import { route } from '../http/route.ts'

const path = { recordId: z.string() }
const forHolders = { extension: true, access: 'tenant', scopes: ['holder'] } as const

export default [
  route(
    'POST /issue-credentials/records/openid4vci',
    {
      summary: 'Receive the offer of an OpenID4VCI issuer',
      operationId: 'receiveOpenIdCredentialOffer',
      ...forHolders,
      body: ReceiveOpenId4VciOffer,
      reply: [201, IssueCredentialRecord],
    },
    async ({ wallet }, { body }) => toCredentialRecord(await receiveOffer(wallet, body)),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/begin-authorization',
    {
      summary: 'Begin the consent of a person at an OpenID4VCI issuer',
      operationId: 'beginCredentialAuthorization',
      ...forHolders,
      path,
      body: BeginAuthorization,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId }, body }) =>
      toCredentialRecord(await beginAuthorization(wallet, recordId, body)),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/complete-authorization',
    {
      summary: 'Complete the consent with the parameters of the redirect',
      operationId: 'completeCredentialAuthorization',
      ...forHolders,
      path,
      body: CompleteAuthorization,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId }, body }) =>
      toCredentialRecord(await completeAuthorization(wallet, recordId, body)),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/deliver',
    {
      summary: 'Ask once more for the messages of an offer, with a new link',
      operationId: 'repeatCredentialOfferDelivery',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path: { recordId: z.string() },
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet, agent: { db } }, { path: { recordId } }) =>
      toCredentialRecord(await repeatDelivery({ db, wallet }, recordId)),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/refresh',
    {
      summary: 'Renew a credential of an OpenID4VCI issuer',
      operationId: 'refreshCredential',
      ...forHolders,
      path,
      body: RefreshCredential,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId }, body }) =>
      toCredentialRecord(await refreshCredential(wallet, recordId, body)),
  ),
] as const
