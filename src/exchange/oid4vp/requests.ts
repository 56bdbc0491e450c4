/** Presentation requests of a tenant over OpenID4VP: a record, its session, and the URL that a wallet opens. */
import * as z from 'zod'
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { statusPolicies } from '../../wallet/credential-status/check.ts'
import { isUnbound, RequestedDcqlQuery } from '../../credentials/dcql/query.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { getRecord } from '../engine/find.ts'
import { type Created, createOnce } from '../engine/idempotency.ts'
import { begin } from '../engine/record.ts'
import { firstFormatOf } from '../presentation/dcql.ts'
import { expiresIn } from '../protocols/model.ts'
import { digitalFamilies } from '../presentation/digital-credentials.ts'
import { presentProof, type PresentationRecord } from '../presentation/model.ts'
import { AcceptedIssuers } from '../../wallet/verification/trust.ts'
import { pageOf, responseModes, VerifierInfo } from '../presentation/openid4vp.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { restrictsIssuers } from '../presentation/verification.ts'
import { getPolicy, type VerificationPolicy } from '../../wallet/verification/policies.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { toRequestUrl } from './authorization-request.ts'
import { chooseClients, clientIdPrefixes, type ClientIdPrefix } from './client.ts'
import { asksByIsoMdoc, findIsoMdocFault, toDigitalRequests, WebOrigin } from './digital-request.ts'
import { newEncryptionKey } from './encryption.ts'
import { insertSession, sealKey, useResponseCode } from './session.ts'
import {
  encodeTransaction,
  findTransactionFault,
  Transactions,
} from '../../wallet/verification/transaction-data.ts'

export const RequestFields = z.object({
  dcqlQuery: RequestedDcqlQuery.describe(
    'The requested credentials in the Digital Credentials Query Language, of the formats `dc+sd-jwt` and `jwt_vc_json`.',
  ),
  clientIdPrefix: optional(z.enum(clientIdPrefixes)).describe(
    'How the wallet learns who asks. Default: `decentralized_identifier` with a did, `x509_hash` with a certificateId, otherwise `redirect_uri`, whose requests are not signed.',
  ),
  did: optional(z.string()).describe(
    'The DID of this wallet that signs the request, by an authentication key.',
  ),
  keyId: optional(z.string()).describe(
    'The id of that key. Default: the first on P-256, otherwise the first.',
  ),
  certificateId: optional(Uuid).describe(
    'The issuer certificate of this wallet that signs the request. With `dc_api` a did can sign as well; `clientIdPrefix` is then that of the certificate.',
  ),
  responseMode: optional(z.enum(responseModes)).describe(
    'How the wallet responds: by itself (`direct_post`), or through the browser’s Digital Credentials API (`dc_api`). With `direct_post.jwt` and `dc_api.jwt` it encrypts the response to a key of this request. Default: `direct_post`.',
  ),
  origins: optional(z.array(WebOrigin).min(1).max(20)).describe(
    '`dc_api`: the origins of the pages that request the presentation, such as `https://shop.example`. Default: the origin of the page of the request (`pageUrl`).',
  ),
  protocols: optional(z.array(z.enum(digitalFamilies)).min(1).max(2)).describe(
    '`dc_api`: the protocols that pages offer: OpenID4VP, and `org-iso-mdoc` of ISO/IEC TS 18013-7 Annex C, the only one of Safari. Default: both. A query that `org-iso-mdoc` cannot ask is asked by OpenID4VP alone.',
  ),
  directPost: optional(z.boolean()).describe(
    '`dc_api`: whether wallets may also respond by `direct_post`, for browsers without the Digital Credentials API and wallets on another device. Default: true.',
  ),
  policyId: optional(Uuid).describe(
    'A verification policy that each credential must satisfy as well: `schemaId` is the `vct`, or a credential schema.',
  ),
  issuers: optional(AcceptedIssuers).describe(
    'A list: each issuer must be one of these DIDs. `trusted`: each issuer must be a trust anchor of this wallet, or have a certificate below one. `known`: as `trusted`, and DIDs of this wallet are accepted too. `any`: certificates must end at a trust anchor, and DIDs are accepted as the policy says. Required, unless a policy names trusted issuers for each schema, or the query `trusted_authorities` for each credential.',
  ),
  sameHolder: optional(z.boolean()).describe(
    'Whether all credentials must be of one holder: bound to one key, or with subjects that are one DID, whose keys have signed the presentations. Default: false.',
  ),
  statusCheck: optional(z.enum(statusPolicies)).describe(
    'The check of credential status, as in `POST /present-proof/presentations`. Default: `required`.',
  ),
  transactionData: optional(Transactions).describe(
    'Transactions that the person authorizes with the presentation (`transaction_data`): `type`, `credential_ids` of the query, and members of the type.',
  ),
  verifierInfo: optional(z.array(VerifierInfo).min(1).max(10)).describe(
    'Attestations about this verifier for the wallet (`verifier_info`), in a signed request.',
  ),
  redirectUri: optional(z.url({ protocol: /^https?$/ }).max(2_000)).describe(
    'Where the wallet sends the person after the response, with the parameter `response_code` to be redeemed.',
  ),
  expiresIn: expiresIn('PRESENTATION_INVITATION_EXPIRY'),
})

export const RequestByOpenId4Vp = RequestFields.transform(({ clientIdPrefix, ...requested }, context) => {
  const { did, keyId, certificateId } = requested
  const refuse = (member: string, message: string): ClientIdPrefix => {
    context.addIssue({ code: 'custom', path: [member], message })
    return 'redirect_uri'
  }
  const isDigital = requested.responseMode?.startsWith('dc_api') ?? false
  const choose = (): ClientIdPrefix => {
    if (keyId !== undefined && did === undefined) return refuse('keyId', 'needs a did')
    if (did !== undefined) {
      if (certificateId === undefined) return clientIdPrefix ?? 'decentralized_identifier'
      if (!isDigital)
        refuse('certificateId', 'excludes did, unless the responseMode is dc_api: give one of them')
    }
    return clientIdPrefix ?? (certificateId === undefined ? 'redirect_uri' : 'x509_hash')
  }
  const prefix = choose()
  const needed = {
    decentralized_identifier: 'did',
    x509_san_dns: 'certificateId',
    x509_hash: 'certificateId',
  }
  const member = certificateId !== undefined ? 'certificateId' : did !== undefined ? 'did' : undefined
  const expected = prefix === 'redirect_uri' ? undefined : needed[prefix]
  if (member !== expected)
    refuse(
      'clientIdPrefix',
      `${prefix} ${expected === undefined ? 'needs no signer' : `needs a ${expected}`}`,
    )
  if (requested.verifierInfo && expected === undefined)
    refuse('verifierInfo', 'needs a signed request: give a did or a certificateId')
  for (const member of ['origins', 'protocols', 'directPost'] as const)
    if (requested[member] !== undefined && !isDigital)
      refuse(member, 'needs the responseMode dc_api or dc_api.jwt')
  const unasked = requested.protocols?.includes('openid4vp') === false && findIsoMdocFault(requested)
  if (unasked) refuse('protocols', `org-iso-mdoc cannot ask this: ${unasked}`)
  if (requested.sameHolder && requested.dcqlQuery.credentials.some(isUnbound))
    refuse('sameHolder', 'needs credentials without require_cryptographic_holder_binding: false')
  const fault = findTransactionFault(requested.transactionData ?? [], requested.dcqlQuery)
  if (fault)
    context.addIssue({ code: 'custom', path: ['transactionData', ...fault.path], message: fault.message })
  return { ...requested, clientIdPrefix: prefix }
}).meta({ id: 'OpenId4VpPresentationRequest' })
export type RequestByOpenId4Vp = z.output<typeof RequestByOpenId4Vp>

/** A session that the response answers. It is stored with the request. */
export type RequestingSession = {
  id: string
  store: (tx: Tx, record: PresentationRecord) => Promise<unknown>
}

/** An issuance that needs the presentation, and where the browser goes on. */
export type RequestingIssuance = {
  issuance: NonNullable<PresentationRecord['openid4vp']>['issuance']
  toRedirectUri: (recordId: string) => string
}

/** The purpose of a request: a session, an issuance, or the tenant’s own. With a key, it is made once. */
type Purpose = { session?: RequestingSession; issuing?: RequestingIssuance; key?: string | undefined }

/**
 * Requests a presentation. A repeated request with the same idempotency key returns the first one.
 *
 * @throws {Problem} if the policy does not exist, or the signer cannot be used; like `createOnce`
 */
export function requestByOpenId4Vp(
  wallet: Wallet,
  requested: RequestByOpenId4Vp,
  { key, ...purpose }: Purpose,
): Promise<PresentationRecord> {
  return createOnce(wallet, presentProof, { key, body: requested }, (created) =>
    create(wallet, requested, created, purpose),
  )
}

async function create(
  wallet: Wallet,
  requested: RequestByOpenId4Vp,
  { id: recordId, ...created }: Created,
  { session, issuing }: Purpose,
): Promise<PresentationRecord> {
  const { urls, config, shortLinks } = wallet.env
  const { dcqlQuery, policyId, statusCheck, responseMode = 'direct_post' } = requested
  const policy = policyId === undefined ? undefined : await getPolicy(wallet.db, policyId, 'policyId')
  requireIssuers({ ...requested, policy })
  // Short, because the QR code has the URL of the request.
  const token = shortLinks.create(wallet.number)
  const requestUri = `${urls.rest}/r/${token}`
  const responseUri = `${urls.rest}/oid4vp/requests/${token}/response`
  const clients = await chooseClients(wallet, requested, responseUri)
  const [nonce, state] = [newSecret(), newSecret()]
  const isEncrypted = responseMode.endsWith('.jwt')
  const encryption = isEncrypted || asksByIsoMdoc(requested) ? newEncryptionKey() : undefined
  const encryptionKey = isEncrypted ? encryption!.encryptionKey : undefined
  const { verifierInfo } = requested
  const transactionData = requested.transactionData?.map(encodeTransaction)
  const asked = { dcqlQuery, transactionData, verifierInfo }
  const terms = { ...clients[0], ...asked, responseMode, nonce, state, responseUri, encryptionKey }
  const seconds = requested.expiresIn ?? config.PRESENTATION_INVITATION_EXPIRY
  const expiresTime = Math.floor(Date.now() / 1_000) + seconds
  const { origins = [new URL(urls.rest).origin], directPost } = requested
  const digital = responseMode.startsWith('dc_api') && {
    origins,
    ...(await toDigitalRequests(wallet, requested, { ...terms, clients, origins, expiresTime }, encryption)),
  }
  const data = presentProof.model.parse({
    credentialFormat: firstFormatOf(dcqlQuery),
    proofs: [],
    policy: policy && { id: policy.id, constraints: policy.constraints },
    statusCheck,
    requestData: [JSON.stringify(dcqlQuery)],
    data: [],
    openid4vp: {
      ...terms,
      ...digital,
      directPost,
      authorizationRequest: directPost === false ? pageOf(responseUri) : toRequestUrl(terms, requestUri),
      expiresTime,
      redirectUri: issuing?.toRedirectUri(recordId) ?? requested.redirectUri,
      issuers: requested.issuers,
      sameHolder: requested.sameHolder,
      sessionId: session?.id,
      issuance: issuing?.issuance,
    },
    ...created,
  })
  return wallet.transaction(async (tx) => {
    const initial = { id: recordId, thid: randomId(), data }
    const on = 'POST /present-proof/presentations/openid4vp'
    const record = await begin(tx, presentProof, 'Verifier', on, initial)
    await insertSession(tx, {
      record_id: recordId,
      token_digest: digestOf(token),
      code_digest: null,
      sealed: encryption ? sealKey(wallet, recordId, encryption.privateJwk) : null,
    })
    await session?.store(tx, record)
    return record
  })
}

/** @throws {Problem} 400 if neither `issuers` nor the policy nor the query says whose credentials are accepted */
function requireIssuers({
  dcqlQuery: query,
  issuers,
  policy,
}: Pick<RequestByOpenId4Vp, 'dcqlQuery' | 'issuers'> & { policy: VerificationPolicy | undefined }): void {
  if (issuers !== undefined || restrictsIssuers({ policy, query })) return
  throw new Problem(
    'BadRequest',
    'issuers: say whose credentials are accepted: their DIDs, "trusted", "known", or "any" for those of everybody. A policy with trusted issuers for each schema, or trusted_authorities for each credential of the query, says it too.',
  )
}

export const ResponseCode = z
  .object({ responseCode: z.string().min(1).max(200).describe('`response_code` of the redirect.') })
  .meta({ id: 'OpenId4VpResponseCode' })

/**
 * Redeems the code that the person's browser brought from the wallet: it proves that the browser and the
 * wallet belong together (OpenID4VP 1.0 §13.3).
 *
 * @throws {Problem} 404; 409 if the code is of another presentation, or was used
 */
export async function redeemResponseCode(
  wallet: Wallet,
  presentationId: string,
  code: string,
): Promise<PresentationRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, presentProof, presentationId)
    if (!(await useResponseCode(tx, presentationId, code)))
      throw new Problem(
        'Conflict',
        'responseCode: it is not that of this presentation, or was used. Each code can be redeemed once.',
      )
    return record
  })
}
