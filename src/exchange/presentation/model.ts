/** Presentation records: the stored fields and the REST resource. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { PresentationRequest } from '../../credentials/anoncreds/presentation.ts'
import { statusPolicies } from '../../wallet/credential-status/check.ts'
import { PolicyConstraint } from '../../wallet/verification/policies.ts'
import { optional } from '../../wallet/model.ts'
import { defaultFormat } from '../../definitions/format-names.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import {
  ExpiresAt,
  InvitationFields,
  Meta,
  MetaLastFailure,
  Sides,
  toExpiresAt,
  toInvitationFields,
} from '../protocols/model.ts'
import { requestDigest } from '../engine/idempotency.ts'
import type { Protocol, Rec } from '../engine/protocol.ts'
import { OpenId4VpRequest, StoredRequest, toOpenId4VpRequest } from './openid4vp-request.ts'
import { DcqlPresentation } from './dcql.ts'
import { AcceptedIssuers } from '../../wallet/verification/trust.ts'
import { OpenId4VpStatus, StoredOpenId4Vp, toOpenId4VpStatus } from './openid4vp.ts'
import { presentationMessages, presentationStates } from '../../definitions/present-proof.ts'
import { toVerification, Verification } from './verification.ts'

/** Binds a presentation to one request and one verifier, against replay. */
export const Options = z
  .object({ challenge: z.string().min(1), domain: z.string().min(1) })
  .meta({ id: 'Options' })

/** Credentials that a verifier accepts: a schema and trusted issuers. */
export const ProofRequestAux = z
  .object({ schemaId: z.string().min(1), trustIssuers: optional(z.array(z.string())) })
  .meta({ id: 'ProofRequestAux' })

/** Names of claims. A value is ignored unless it is an object, which names members of the claim. */
export const ClaimNames = z.record(z.string(), JsonValue)

/** The stored fields of a presentation record. */
export const PresentationData = z.object({
  ...Sides,
  credentialFormat: CredentialFormat.default(defaultFormat),
  /**
   * Absent for AnonCreds, and if a Cloud Agent requests an SD-JWT without it; key-bound credentials cannot be
   * presented then.
   */
  /** A request of another agent may have no domain. */
  options: Options.partial({ domain: true }).optional(),
  /** AnonCreds: the presentation request. */
  anoncreds: PresentationRequest.optional(),
  /** AnonCreds, prover: the references of attributes that are not revealed. */
  keptBack: z.array(z.string()).optional(),
  /** SD-JWT: the requested claims. */
  claims: ClaimNames.optional(),
  /** Prover: the claims to disclose, if they differ from the requested ones. */
  shownClaims: ClaimNames.optional(),
  /** Verifier: the claims that the presentation discloses. */
  disclosedClaims: z.record(z.string(), JsonValue).optional(),
  proofs: z.array(z.object({ schemaId: z.string(), trustIssuers: z.array(z.string()).optional() })),
  /**
   * Verifier: the accepted issuers, beside those of `proofs` and the policy. Absent: any. Prover: the
   * accepted DIDs, if the request names them.
   */
  issuers: AcceptedIssuers.optional(),
  /** Verifier: the result, unless the request is a query in DCQL. */
  verification: Verification.omit({ issuersChecked: true }).optional(),
  /** Prover: the entries of `proofs` are alternatives. */
  anyProof: z.boolean().optional(),
  /** Verifier. */
  statusCheck: z.enum(statusPolicies).optional(),
  /** Verifier: a copy of the policy at the time of the request. */
  policy: z.object({ id: z.string(), constraints: z.array(PolicyConstraint) }).optional(),
  goalCode: z.string().optional(),
  comment: z.string().optional(),
  /** The request's attachments as text. */
  requestData: z.array(z.string()),
  /** The presentations as text: compact JWTs, SD-JWTs, JSON of AnonCreds proofs. */
  data: z.array(z.string()),
  /** Prover: the request had the message type of the specification, not of the Cloud Agent. */
  isDidcommOrg: z.boolean().optional(),
  /** The query in DCQL of a request over DIDComm, and its answer. */
  dcql: DcqlPresentation.optional(),
  /** Verifier: the request, if it is over OpenID4VP. */
  openid4vp: StoredOpenId4Vp.optional(),
  /** Prover: the request, if it is over OpenID4VP. */
  openid4vpRequest: StoredRequest.optional(),
  /** Prover: the record ids of the presented credentials. */
  proofId: z.array(z.string()).optional(),
  requestDigest,
  ...Meta,
})
export type PresentationData = z.output<typeof PresentationData>

export const PresentationStatus = z
  .object({
    presentationId: z.guid(),
    id: z.guid().describe('The same as `presentationId`.'),
    thid: z.string(),
    role: z.enum(['Verifier', 'Prover']),
    status: z.enum([...new Set(presentationStates.rows.map((row) => row[3]))]),
    proofs: z.array(ProofRequestAux.extend({ trustIssuers: z.array(z.string()).optional() })),
    data: z.array(z.string()),
    requestData: z.array(z.string()),
    disclosedClaims: z
      .record(z.string(), JsonValue)
      .optional()
      .describe('Verifier, SDJWT and AnonCreds: the disclosed claims.'),
    connectionId: z.string().optional(),
    createdAt: z.iso.datetime().describe('Extension.'),
    updatedAt: z.iso.datetime().optional().describe('Extension.'),
    policyId: z.string().optional().describe('The verification policy of the request.'),
    issuers: AcceptedIssuers.optional().describe(
      'The issuers that the request accepts, beside those of `proofs` and a policy (extension).',
    ),
    expiresAt: ExpiresAt,
    verification: Verification.optional().describe(
      'Verifier: whether issuers are checked, the checks, and the presented credentials (extension).',
    ),
    dcql: DcqlPresentation.optional().describe('The query in DCQL of a request over DIDComm (extension).'),
    openid4vp: OpenId4VpStatus.optional().describe('A request over OpenID4VP, and its result (extension).'),
    openid4vpRequest: OpenId4VpRequest.optional().describe(
      'Prover: a received request over OpenID4VP, with the verifier (extension).',
    ),
    ...InvitationFields,
    metaRetries: z.int(),
    metaLastFailure: MetaLastFailure.optional(),
  })
  .meta({ id: 'PresentationStatus' })
export type PresentationStatus = z.infer<typeof PresentationStatus>

export type PresentationRecord = Rec<typeof presentationStates, PresentationData>

/** A presentation record as REST and events show it. */
export function toPresentationStatus(record: PresentationRecord): PresentationStatus {
  const { id, role } = record
  return {
    presentationId: id,
    id,
    thid: record.thid,
    role,
    status: record.state,
    proofs: record.proofs,
    data: record.data,
    requestData: record.requestData,
    disclosedClaims: record.disclosedClaims,
    connectionId: record.connectionId,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    policyId: record.policy?.id,
    issuers: record.openid4vp?.issuers ?? record.issuers,
    expiresAt: toExpiresAt(expiryOf(record)),
    verification: role === 'Verifier' ? toVerification(record) : undefined,
    dcql: record.dcql,
    openid4vp: record.openid4vp && toOpenId4VpStatus(record.openid4vp),
    openid4vpRequest: record.openid4vpRequest && toOpenId4VpRequest(record.openid4vpRequest),
    goal: record.comment || undefined,
    ...toInvitationFields(record),
    metaRetries: record.metaRetries,
    metaLastFailure: record.metaLastFailure,
  }
}

/** The end of a request that waits for its prover, in epoch seconds. */
function expiryOf({
  role,
  state,
  openid4vp,
  openid4vpRequest,
  invitation,
}: PresentationRecord): number | undefined {
  const isOpen =
    role === 'Prover'
      ? state === 'RequestReceived'
      : ['InvitationGenerated', 'RequestCreated'].includes(state)
  return isOpen ? (openid4vp ?? openid4vpRequest ?? invitation)?.expiresTime : undefined
}

export const presentProof = {
  ...presentationStates,
  model: PresentationData,
  messages: presentationMessages,
  toResource: toPresentationStatus,
  endsAt: (record) => (record.role === 'Verifier' ? expiryOf(record) : undefined),
  gauge: 'present_proof_flow_did_com_exchange_job_ms_gauge',
  problems: {
    notFound: 'error:PresentationError:RecordIdNotFound',
    wrongState: 'error:PresentationError:InvalidFlowStateError',
  },
} as const satisfies Protocol<typeof presentationStates, PresentationData>
