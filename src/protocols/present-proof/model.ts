/** Presentation records: as they are stored and as REST shows them (service §2.7, §4.4, api.md 4.8). */
import { z } from 'zod'
import { optional, Uuid } from '../../wallet/model.ts'
import { Goals, InvitationFields, invitationText, Meta, MetaLastFailure, present, Sides, toInvitationFields } from '../model.ts'
import type { Protocol, Rec } from '../record.ts'
import { presentationStates } from './states.ts'

/** What a presentation must be bound to, so that it is not one that was made for somebody else. */
export const Options = z.object({ challenge: z.string().min(1), domain: z.string().min(1) }).meta({ id: 'Options' })

/** What a verifier accepts: credentials of a schema, by issuers it trusts. */
export const ProofRequestAux = z
  .object({ schemaId: z.string().min(1), trustIssuers: optional(z.array(z.string())) })
  .meta({ id: 'ProofRequestAux' })

/** What is asked for, whoever it is asked of. */
const RequestFields = z.object({
  options: optional(Options).describe('Challenge and domain; made up when left out.'),
  proofs: z
    .array(ProofRequestAux)
    .nullish()
    .transform((proofs) => proofs ?? [])
    .describe('Which schemas and issuers are accepted; an empty list accepts all.'),
  credentialFormat: z
    .literal('JWT')
    .nullish()
    .transform((format) => format ?? ('JWT' as const)),
})
export type Requested = z.output<typeof RequestFields>

export const RequestPresentation = RequestFields.extend({
  connectionId: Uuid.describe('The connection over which the request is sent.'),
  goalCode: optional(z.string()),
  goal: optional(z.string()),
}).meta({ id: 'RequestPresentationInput' })
export type RequestPresentation = z.output<typeof RequestPresentation>

export const InviteToPresent = RequestFields.extend(Goals).meta({ id: 'RequestPresentationInvitationInput' })
export type InviteToPresent = z.output<typeof InviteToPresent>

export const AcceptRequestInvitation = z.object({ invitation: invitationText }).meta({ id: 'AcceptRequestPresentationInvitation' })

export const presentationActions = ['request-accept', 'request-reject', 'presentation-accept', 'presentation-reject'] as const

export const RequestPresentationAction = z
  .object({
    action: z.enum(presentationActions),
    proofId: optional(z.array(z.string()).max(100)).describe('`request-accept`: the record ids of the credentials to present.'),
  })
  .meta({ id: 'RequestPresentationAction' })
export type RequestPresentationAction = z.output<typeof RequestPresentationAction>

/** What a presentation record's row holds beside the fields of every record. */
export const PresentationData = z.object({
  ...Sides,
  options: Options,
  proofs: z.array(z.object({ schemaId: z.string(), trustIssuers: z.array(z.string()).optional() })),
  goalCode: z.string().optional(),
  comment: z.string().optional(),
  /** The request's attachments as text. */
  requestData: z.array(z.string()),
  /** The presentations as text: compact JWTs. */
  data: z.array(z.string()),
  /** Prover: the request came in the namespace of the specification. */
  isDidcommOrg: z.boolean().optional(),
  /** Prover: which credential records are presented. */
  proofId: z.array(z.string()).optional(),
  ...Meta,
})
export type PresentationData = z.output<typeof PresentationData>

export const PresentationStatus = z
  .object({
    presentationId: z.guid(),
    id: z.guid().describe('The same as `presentationId` (service §2.7).'),
    thid: z.string(),
    role: z.enum(['Verifier', 'Prover']),
    status: z.enum([...new Set(presentationStates.rows.map((row) => row[3]))]),
    proofs: z.array(z.unknown()),
    data: z.array(z.string()),
    requestData: z.array(z.string()),
    connectionId: z.string().optional(),
    ...InvitationFields,
    metaRetries: z.int(),
    metaLastFailure: MetaLastFailure.optional(),
  })
  .meta({ id: 'PresentationStatus' })
export type PresentationStatus = z.infer<typeof PresentationStatus>

export type PresentationRecord = Rec<typeof presentationStates, PresentationData>

/** A presentation record as REST and events show it; `proofs` is always empty, as the real agent has it. */
export function toPresentationStatus(record: PresentationRecord): PresentationStatus {
  const { id, thid, role, state, data, requestData, connectionId, metaRetries, metaLastFailure } = record
  return present({
    presentationId: id,
    id,
    thid,
    role,
    status: state,
    proofs: [],
    data,
    requestData,
    connectionId: role === 'Verifier' ? connectionId : undefined,
    ...toInvitationFields(record),
    metaRetries,
    metaLastFailure,
  })
}

/** The same messages in the namespace of the specification; who speaks so is answered so. */
export const didcommOrgMessages = {
  request: 'https://didcomm.org/present-proof/3.0/request-presentation',
  presentation: 'https://didcomm.org/present-proof/3.0/presentation',
} as const

export const presentProof = {
  name: 'present-proof',
  states: presentationStates,
  model: PresentationData,
  messages: {
    request: 'https://didcomm.atalaprism.io/present-proof/3.0/request-presentation',
    presentation: 'https://didcomm.atalaprism.io/present-proof/3.0/presentation',
    'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report',
  },
  toResource: toPresentationStatus,
  problems: { notFound: 'error:PresentationError:RecordIdNotFound', wrongState: 'error:PresentationError:InvalidFlowStateError' },
} as const satisfies Protocol<typeof presentationStates, PresentationData>
