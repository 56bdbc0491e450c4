/** `/present-proof`: proof requests and presentations. */
import { findAnsweredSession } from '../../src/exchange/enterprise/openid4vp-answer.ts'
import { DigitalResponse, receiveFromTenant } from '../../src/exchange/oid4vp/digital-response.ts'
import { RequestByType, requestByType, RequestedByType } from '../../src/exchange/oid4vp/request-by-type.ts'
import { ReceiveOpenId4VpRequest, receiveRequest } from '../../src/exchange/oid4vp/holder/receive.ts'
import {
  redeemResponseCode,
  RequestByOpenId4Vp,
  requestByOpenId4Vp,
  ResponseCode,
} from '../../src/exchange/oid4vp/requests.ts'
import { findCandidates, PresentationCandidates } from '../../src/exchange/presentation/candidates.ts'
import { getRecord, listRecords } from '../../src/exchange/engine/find.ts'
import { IdempotencyHeader } from '../../src/exchange/engine/idempotency.ts'
import {
  PresentationStatus,
  presentProof,
  toPresentationStatus,
  type PresentationRecord,
} from '../../src/exchange/presentation/model.ts'
import {
  AcceptRequestInvitation,
  InviteToPresent,
  RequestPresentation,
  RequestPresentationAction,
} from '../../src/exchange/presentation/requests.ts'
import { acceptRequestInvitation } from '../../src/exchange/presentation/prover.ts'
import { acceptRequest, rejectRequest } from '../../src/exchange/transports.ts'
import {
  closePresentation,
  inviteToPresent,
  requestPresentation,
} from '../../src/exchange/presentation/verifier.ts'
import { removeRecord } from '../../src/exchange/engine/remove.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { Page, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'
import { RecordPaging } from './connections.ts'

const PresentationPage = Page('Collection', PresentationStatus, 'PresentationStatusPage')
const path = { presentationId: Uuid }

export default [
  route(
    'POST /present-proof/presentations',
    {
      summary: 'Request a proof over a connection',
      operationId: 'requestPresentation',
      access: 'tenant',
      scopes: ['verifier'],
      headers: IdempotencyHeader,
      body: RequestPresentation,
      reply: [201, PresentationStatus],
    },
    async ({ wallet }, { headers, body }) =>
      toPresentationStatus(await requestPresentation(wallet, body, headers['idempotency-key'])),
  ),

  route(
    'POST /present-proof/presentations/invitation',
    {
      summary: 'Request a proof by an invitation',
      operationId: 'createOOBRequestPresentationInvitation',
      access: 'tenant',
      scopes: ['verifier'],
      headers: IdempotencyHeader,
      body: InviteToPresent,
      reply: [201, PresentationStatus],
    },
    async ({ wallet }, { headers, body }) =>
      toPresentationStatus(await inviteToPresent(wallet, body, headers['idempotency-key'])),
  ),

  route(
    'POST /present-proof/presentations/openid4vp',
    {
      summary: 'Request a proof from a wallet over OpenID4VP',
      operationId: 'requestPresentationOfWallet',
      extension: true,
      access: 'tenant',
      scopes: ['verifier'],
      headers: IdempotencyHeader,
      body: RequestByOpenId4Vp,
      reply: [201, PresentationStatus],
    },
    async ({ wallet }, { headers, body }) =>
      toPresentationStatus(await requestByOpenId4Vp(wallet, body, { key: headers['idempotency-key'] })),
  ),

  route(
    'POST /present-proof/presentations/openid4vp/by-type',
    {
      summary: 'Request a proof of a type that this wallet issues or holds',
      operationId: 'requestPresentationByType',
      extension: true,
      access: 'tenant',
      scopes: ['verifier'],
      headers: IdempotencyHeader,
      body: RequestByType,
      reply: [201, RequestedByType],
    },
    async ({ wallet, agent: { db } }, { headers, body }) => {
      const { record, chosen } = await requestByType({ db, wallet }, body, headers['idempotency-key'])
      return { ...toPresentationStatus(record), chosen }
    },
  ),

  route(
    'POST /present-proof/presentations/openid4vp/requests',
    {
      summary: 'Receive a request of a verifier over OpenID4VP',
      operationId: 'receiveOpenIdPresentationRequest',
      extension: true,
      access: 'tenant',
      scopes: ['holder'],
      body: ReceiveOpenId4VpRequest,
      reply: [201, PresentationStatus],
    },
    async ({ wallet }, { body }) => toPresentationStatus(await receiveRequest(wallet, body)),
  ),

  route(
    'POST /present-proof/presentations/{presentationId}/digital-credential',
    {
      summary: 'Send what an own page got from the Digital Credentials API',
      operationId: 'receiveDigitalCredential',
      extension: true,
      access: 'tenant',
      scopes: ['verifier'],
      path,
      body: DigitalResponse,
      reply: [200, PresentationStatus],
    },
    async ({ wallet }, { path: { presentationId }, body }) =>
      toPresentationStatus(await receiveFromTenant(wallet, presentationId, body, findAnsweredSession)),
  ),

  route(
    'POST /present-proof/presentations/{presentationId}/response-code',
    {
      summary: 'Redeem the response code that the person’s browser brought from the wallet',
      operationId: 'redeemPresentationResponseCode',
      extension: true,
      access: 'tenant',
      scopes: ['verifier'],
      path,
      body: ResponseCode,
      reply: [200, PresentationStatus],
    },
    async ({ wallet }, { path: { presentationId }, body: { responseCode } }) =>
      toPresentationStatus(await redeemResponseCode(wallet, presentationId, responseCode)),
  ),

  route(
    'POST /present-proof/presentations/accept-invitation',
    {
      summary: 'Accept an invitation with a request',
      operationId: 'acceptRequestPresentationInvitation',
      access: 'tenant',
      scopes: ['holder'],
      body: AcceptRequestInvitation,
      reply: [200, PresentationStatus],
    },
    async ({ wallet }, { body }) =>
      toPresentationStatus(await acceptRequestInvitation(wallet, body.invitation)),
  ),

  route(
    'GET /present-proof/presentations',
    {
      summary: 'List the presentation records',
      operationId: 'getAllPresentation',
      access: 'tenant',
      query: RecordPaging,
      reply: [200, PresentationPage],
    },
    async ({ wallet }, { query, target }) => {
      const { records, total } = await listRecords(wallet.db, presentProof, query)
      return toPage('Collection', { ...query, target, total }, records.map(toPresentationStatus))
    },
  ),

  route(
    'GET /present-proof/presentations/{presentationId}',
    {
      summary: 'Read a presentation record',
      operationId: 'getPresentation',
      access: 'tenant',
      path,
      reply: [200, PresentationStatus],
    },
    async ({ wallet }, { path: { presentationId } }) =>
      toPresentationStatus(await getRecord(wallet.db, presentProof, presentationId)),
  ),

  route(
    'DELETE /present-proof/presentations/{presentationId}',
    {
      summary: 'Delete a presentation record',
      operationId: 'deletePresentation',
      extension: true,
      access: 'tenant',
      scopes: ['holder', 'verifier'],
      path,
      reply: [204, null],
    },
    ({ wallet }, { path: { presentationId } }) => removeRecord(wallet, presentProof, presentationId),
  ),

  route(
    'GET /present-proof/presentations/{presentationId}/candidates',
    {
      summary: 'Find the credentials that answer a request',
      operationId: 'listPresentationCandidates',
      extension: true,
      access: 'tenant',
      path,
      reply: [200, PresentationCandidates],
    },
    ({ wallet }, { path: { presentationId } }) => findCandidates(wallet, presentationId),
  ),

  route(
    'PATCH /present-proof/presentations/{presentationId}',
    {
      summary: 'Answer a request, or accept a presentation',
      operationId: 'updatePresentation',
      access: 'tenant',
      scopes: ['holder', 'verifier'],
      path,
      body: RequestPresentationAction,
      reply: [200, PresentationStatus],
    },
    async ({ wallet }, { path: { presentationId }, body }) =>
      toPresentationStatus(await act(wallet, presentationId, body)),
  ),
] as const

function act(
  wallet: Wallet,
  id: string,
  { action, proofId = [], ...choice }: RequestPresentationAction,
): Promise<PresentationRecord> {
  if (action === 'request-accept') return acceptRequest(wallet, id, { proofId, ...choice })
  if (action === 'request-reject') return rejectRequest(wallet, id)
  return closePresentation(wallet, id, action)
}
