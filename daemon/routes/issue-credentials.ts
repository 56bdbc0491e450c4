/** `/issue-credentials`: offers, requests and issuance of credentials. */
import * as z from 'zod'
import { CredentialContent, readContent } from '../../src/exchange/held-credentials/content.ts'
import { acceptOfferInvitation } from '../../src/exchange/issuance/holder.ts'
import { inviteToOffer, offerCredential } from '../../src/exchange/issuance/issuer.ts'
import {
  issueCredential,
  IssueCredentialRecord,
  toCredentialRecord,
} from '../../src/exchange/issuance/model.ts'
import {
  AcceptCredentialOffer,
  AcceptOfferInvitation,
  CreateCredentialOffer,
  InviteToOffer,
  IssueCredentialRequest,
} from '../../src/exchange/issuance/offers.ts'
import { IdempotencyHeader } from '../../src/exchange/engine/idempotency.ts'
import { getRecord, listRecords } from '../../src/exchange/engine/find.ts'
import { acceptOffer, issueRequest, rejectOffer } from '../../src/exchange/transports.ts'
import { removeCredentialRecord } from '../../src/exchange/remove-credential.ts'
import { Page, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'
import { RecordPaging } from './connections.ts'

const RecordPage = Page('Collection', IssueCredentialRecord, 'IssueCredentialRecordPage')
// A plain string, as in the Cloud Agent: a text that is not an id is a record that does not exist.
const path = { recordId: z.string() }

export default [
  route(
    'POST /issue-credentials/credential-offers',
    {
      summary: 'Offer a credential over a connection',
      operationId: 'createCredentialOffer',
      access: 'tenant',
      scopes: ['issuer'],
      headers: IdempotencyHeader,
      body: CreateCredentialOffer,
      reply: [201, IssueCredentialRecord],
    },
    async ({ wallet }, { headers, body }) =>
      toCredentialRecord(await offerCredential(wallet, body, headers['idempotency-key'])),
  ),

  route(
    'POST /issue-credentials/credential-offers/invitation',
    {
      summary: 'Offer a credential by an invitation',
      operationId: 'createCredentialOfferInvitation',
      access: 'tenant',
      scopes: ['issuer'],
      headers: IdempotencyHeader,
      body: InviteToOffer,
      reply: [201, IssueCredentialRecord],
    },
    async ({ wallet }, { headers, body }) =>
      toCredentialRecord(await inviteToOffer(wallet, body, headers['idempotency-key'])),
  ),

  route(
    'POST /issue-credentials/credential-offers/accept-invitation',
    {
      summary: 'Accept an invitation with an offer',
      operationId: 'acceptCredentialOfferInvitation',
      access: 'tenant',
      scopes: ['holder'],
      body: AcceptOfferInvitation,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { body }) => toCredentialRecord(await acceptOfferInvitation(wallet, body.invitation)),
  ),

  route(
    'GET /issue-credentials/records',
    {
      summary: 'List the credential records',
      operationId: 'getCredentialRecords',
      access: 'tenant',
      query: RecordPaging,
      reply: [200, RecordPage],
    },
    async ({ wallet }, { query, target }) => {
      const { records, total } = await listRecords(wallet.db, issueCredential, query)
      return toPage('Collection', { ...query, target, total }, records.map(toCredentialRecord))
    },
  ),

  route(
    'GET /issue-credentials/records/{recordId}',
    {
      summary: 'Read a credential record',
      operationId: 'getCredentialRecord',
      access: 'tenant',
      path,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId } }) => {
      const record = await getRecord(wallet.db, issueCredential, recordId)
      return { ...toCredentialRecord(record), instances: record.instances }
    },
  ),

  route(
    'DELETE /issue-credentials/records/{recordId}',
    {
      summary: 'Delete a credential record; a holder’s credential with it',
      operationId: 'deleteCredentialRecord',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder'],
      path,
      reply: [204, null],
    },
    ({ wallet }, { path: { recordId } }) => removeCredentialRecord(wallet, recordId),
  ),

  route(
    'GET /issue-credentials/records/{recordId}/credential',
    {
      summary: 'Read the credential of a record, decoded, with its revocation status',
      operationId: 'getCredential',
      extension: true,
      access: 'tenant',
      path,
      reply: [200, CredentialContent],
    },
    ({ wallet }, { path: { recordId } }) => readContent(wallet, recordId),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/accept-offer',
    {
      summary: 'Accept an offer',
      operationId: 'acceptCredentialOffer',
      access: 'tenant',
      scopes: ['holder'],
      path,
      body: AcceptCredentialOffer,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId }, body }) =>
      toCredentialRecord(await acceptOffer(wallet, recordId, body)),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/reject-offer',
    {
      summary: 'Decline an offer and notify the issuer',
      operationId: 'rejectCredentialOffer',
      extension: true,
      access: 'tenant',
      scopes: ['holder'],
      path,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId } }) => toCredentialRecord(await rejectOffer(wallet, recordId)),
  ),

  route(
    'POST /issue-credentials/records/{recordId}/issue-credential',
    {
      summary: 'Issue the requested credential',
      operationId: 'issueCredential',
      access: 'tenant',
      scopes: ['issuer'],
      path,
      body: IssueCredentialRequest,
      reply: [200, IssueCredentialRecord],
    },
    async ({ wallet }, { path: { recordId }, body: { claims } }) =>
      toCredentialRecord(await issueRequest(wallet, recordId, claims)),
  ),
] as const
