/** Presentation records: as they are stored and as REST shows them (service §2.7, §4.4, api.md 4.8). */
import { z } from 'zod'
import { JsonValue } from '../../base/json.ts'
import { supportedRequest } from '../../anoncreds/presentation.ts'
import { Reference } from '../../anoncreds/model.ts'
import { PresentationRequest } from '../../anoncreds/presentation.ts'
import { statusPolicies } from '../../credential-status/check.ts'
import { registeredClaims } from '../../credentials/sd-jwt/sd-jwt.ts'
import { PolicyConstraint } from '../../verification/policies.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import { CredentialFormat, credentialFormats } from '../formats.ts'
import {
  Goals,
  InvitationFields,
  invitationText,
  Meta,
  MetaLastFailure,
  present,
  Sides,
  toInvitationFields,
} from '../model.ts'
import type { Protocol, Rec } from '../engine/record.ts'
import { presentationStates } from './states.ts'

/** What a presentation must be bound to, so that it is not one that was made for somebody else. */
export const Options = z
  .object({ challenge: z.string().min(1), domain: z.string().min(1) })
  .meta({ id: 'Options' })

/** What a verifier accepts: credentials of a schema, by issuers it trusts. */
export const ProofRequestAux = z
  .object({ schemaId: z.string().min(1), trustIssuers: optional(z.array(z.string())) })
  .meta({ id: 'ProofRequestAux' })

/** Names of claims: values do not matter unless they are objects, which name claims of the claim. */
const ClaimNames = z.record(z.string(), JsonValue)

/** As others are asked, but that the nonce may be left out. */
const NewAskedPresentation = supportedRequest(PresentationRequest.partial({ nonce: true }))

/** What is asked for, whoever it is asked of. */
const RequestFields = z.object({
  options: optional(Options).describe('Challenge and domain; made up when left out.'),
  proofs: z
    .array(ProofRequestAux)
    .nullish()
    .transform((proofs) => proofs ?? [])
    .describe(
      'Which credentials are asked for, a line for each: a schema, and the issuers that are trusted with it (any, if none is named). Each credential must satisfy a line, and each line must be satisfied; of an SDJWT there is one line at most. An empty list accepts all.',
    ),
  policyId: optional(Uuid).describe(
    'A verification policy that the presentation must satisfy as well, as the policy is now (ours).',
  ),
  statusCheck: optional(z.enum(statusPolicies)).describe(
    'Whether credentials may be revoked: `required` (the default) accepts those alone that are known to stand, `if-available` also those whose status list cannot be had, `off` all (ours).',
  ),
  credentialFormat: optional(CredentialFormat).describe(
    'JWT when left out; AnonCreds when there is an anoncredPresentationRequest.',
  ),
  presentationFormat: optional(z.enum([...credentialFormats, 'Anoncred'])).describe(
    'The same as `credentialFormat`.',
  ),
  anoncredPresentationRequest: optional(NewAskedPresentation).describe(
    'AnonCreds: the attributes and predicates that are asked for.',
  ),
  claims: optional(ClaimNames).describe(
    'SDJWT: the claims that the presentation must show, by name; the value `{"city": ""}` asks for one claim within, any value that is no object for all.',
  ),
})

/** Settles the format, and what goes with it. */
function toRequested(
  { credentialFormat, presentationFormat, claims, anoncredPresentationRequest, ...wanted }: Fields,
  context: z.RefinementCtx,
): Requested {
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
  const named = presentationFormat === 'Anoncred' ? 'AnonCreds' : presentationFormat
  const format = credentialFormat ?? named ?? (anoncredPresentationRequest ? 'AnonCreds' : 'JWT')
  if (named !== undefined && named !== format)
    refuse(['presentationFormat'], `is not the credentialFormat, ${format}`)
  if (format === 'JWT' && Object.keys(claims ?? {}).length > 0)
    refuse(['claims'], 'is for the format SDJWT: a JWT credential is shown as a whole')
  const always = Object.keys(claims ?? {}).find((name) =>
    (registeredClaims as readonly string[]).includes(name),
  )
  if (always !== undefined)
    refuse(['claims', always], 'is no claim that could be kept back, so it need not be asked for')
  if (format !== 'AnonCreds') {
    if (format === 'SDJWT' && wanted.proofs.length > 1)
      refuse(
        ['proofs'],
        `has ${wanted.proofs.length} lines, and an SDJWT presentation shows one credential: ask for each with a request of its own`,
      )
    if (anoncredPresentationRequest)
      refuse(['anoncredPresentationRequest'], `is for the format AnonCreds, not for ${format}`)
    return { ...wanted, credentialFormat: format, ...(format === 'SDJWT' && { claims: claims ?? {} }) }
  }
  if (!anoncredPresentationRequest)
    refuse(['anoncredPresentationRequest'], 'is missing: it says what is asked for')
  if (Object.keys(claims ?? {}).length > 0)
    refuse(['claims'], 'is for the format SDJWT: ask for attributes in anoncredPresentationRequest')
  if (wanted.proofs.length > 0)
    refuse(
      ['proofs'],
      'is not for the format AnonCreds: ask with restrictions in anoncredPresentationRequest',
    )
  if (wanted.statusCheck !== undefined)
    refuse(['statusCheck'], 'is not for the format AnonCreds, in which nothing can be revoked here')
  return { ...wanted, credentialFormat: format, anoncredPresentationRequest }
}
type Fields = z.output<typeof RequestFields>
export type Requested = Pick<Fields, 'options' | 'proofs' | 'policyId' | 'statusCheck'> &
  Partial<Pick<Fields, 'claims' | 'anoncredPresentationRequest'>> & { credentialFormat: CredentialFormat }

export const RequestPresentation = RequestFields.extend({
  connectionId: Uuid.describe('The connection over which the request is sent.'),
  goalCode: optional(z.string()),
  goal: optional(z.string()),
})
  .transform(({ connectionId, goalCode, goal, ...wanted }, context) => ({
    connectionId,
    goalCode,
    goal,
    ...toRequested(wanted, context),
  }))
  .meta({ id: 'RequestPresentationInput' })
export type RequestPresentation = z.output<typeof RequestPresentation>

export const InviteToPresent = RequestFields.extend(Goals)
  .transform(({ goalCode, goal, ...wanted }, context) => ({
    goalCode,
    goal,
    ...toRequested(wanted, context),
  }))
  .meta({ id: 'RequestPresentationInvitationInput' })
export type InviteToPresent = z.output<typeof InviteToPresent>

export const AcceptRequestInvitation = z
  .object({ invitation: invitationText })
  .meta({ id: 'AcceptRequestPresentationInvitation' })

/** Which credential answers what. */
export const CredentialProof = z
  .object({
    credential: z
      .string()
      .describe(
        'The record id of a credential of this wallet; the same in all, since a proof is made with one.',
      ),
    requestedAttribute: z
      .array(Reference)
      .max(125)
      .describe('References of the attributes that it answers and shows.'),
    requestedPredicate: z.array(Reference).max(125).describe('References of the predicates that it answers.'),
    unrevealedAttribute: z
      .array(Reference)
      .max(125)
      .nullish()
      .transform((references) => references ?? [])
      .describe('References of the attributes that it is proved to have and that are not shown (ours).'),
  })
  .meta({ id: 'AnoncredCredentialProof' })
export type CredentialProof = z.output<typeof CredentialProof>

export const presentationActions = [
  'request-accept',
  'request-reject',
  'presentation-accept',
  'presentation-reject',
] as const

export const RequestPresentationAction = z
  .object({
    action: z.enum(presentationActions),
    proofId: optional(z.array(z.string()).max(100)).describe(
      '`request-accept`: the record ids of the credentials to present; of an SDJWT exactly one.',
    ),
    claims: optional(ClaimNames).describe(
      '`request-accept`, SDJWT: the claims to show, by name; those asked for when left out.',
    ),
    credentialFormat: optional(CredentialFormat).describe(
      '`request-accept`: the format that the request must have.',
    ),
    anoncredPresentationRequest: optional(
      z
        .object({ credentialProofs: z.array(CredentialProof).max(20) })
        .meta({ id: 'AnoncredCredentialProofs' }),
    ).describe(
      '`request-accept`, AnonCreds: which credential answers what is asked for; `proofId` with one credential stands for one that answers and shows all.',
    ),
  })
  .meta({ id: 'RequestPresentationAction' })
export type RequestPresentationAction = z.output<typeof RequestPresentationAction>

/** What a presentation record's row holds beside the fields of every record. */
export const PresentationData = z.object({
  ...Sides,
  credentialFormat: CredentialFormat.default('JWT'),
  /** Missing in requests for AnonCreds, and where a real agent asked for an SD-JWT without: what is bound to a key cannot be presented to it. */
  options: Options.optional(),
  /** AnonCreds: what is asked for. */
  anoncreds: PresentationRequest.optional(),
  /** AnonCreds, prover: the references of attributes that are not shown. */
  keptBack: z.array(z.string()).optional(),
  /** SD-JWT: the claims that are asked for. */
  claims: ClaimNames.optional(),
  /** Prover: the claims that it shows, if not those asked for. */
  shownClaims: ClaimNames.optional(),
  /** Verifier: what the presentation has shown. */
  disclosedClaims: z.record(z.string(), JsonValue).optional(),
  proofs: z.array(z.object({ schemaId: z.string(), trustIssuers: z.array(z.string()).optional() })),
  /** Prover: the lines of `proofs` are alternatives. */
  anyProof: z.boolean().optional(),
  /** Verifier. */
  statusCheck: z.enum(statusPolicies).optional(),
  /** Verifier: the policy as it was when the request was made; what becomes of it later changes nothing. */
  policy: z.object({ id: z.string(), constraints: z.array(PolicyConstraint) }).optional(),
  goalCode: z.string().optional(),
  comment: z.string().optional(),
  /** The request's attachments as text. */
  requestData: z.array(z.string()),
  /** The presentations as text: compact JWTs, SD-JWTs, JSON of AnonCreds proofs. */
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
    proofs: z.array(ProofRequestAux.extend({ trustIssuers: z.array(z.string()).optional() })),
    data: z.array(z.string()),
    requestData: z.array(z.string()),
    disclosedClaims: z
      .record(z.string(), JsonValue)
      .optional()
      .describe('Verifier, SDJWT and AnonCreds: the claims that were shown.'),
    connectionId: z.string().optional(),
    policyId: z
      .string()
      .optional()
      .describe('The verification policy that the request was made with (ours).'),
    ...InvitationFields,
    metaRetries: z.int(),
    metaLastFailure: MetaLastFailure.optional(),
  })
  .meta({ id: 'PresentationStatus' })
export type PresentationStatus = z.infer<typeof PresentationStatus>

export type PresentationRecord = Rec<typeof presentationStates, PresentationData>

/** A presentation record as REST and events show it. */
export function toPresentationStatus(record: PresentationRecord): PresentationStatus {
  const {
    id,
    thid,
    role,
    state,
    proofs,
    data,
    requestData,
    disclosedClaims,
    connectionId,
    policy,
    metaRetries,
    metaLastFailure,
  } = record
  return present({
    presentationId: id,
    id,
    thid,
    role,
    status: state,
    proofs,
    data,
    requestData,
    disclosedClaims,
    connectionId: role === 'Verifier' ? connectionId : undefined,
    policyId: policy?.id,
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
  ...presentationStates,
  model: PresentationData,
  messages: {
    request: 'https://didcomm.atalaprism.io/present-proof/3.0/request-presentation',
    presentation: 'https://didcomm.atalaprism.io/present-proof/3.0/presentation',
    'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report',
  },
  toResource: toPresentationStatus,
  problems: {
    notFound: 'error:PresentationError:RecordIdNotFound',
    wrongState: 'error:PresentationError:InvalidFlowStateError',
  },
} as const satisfies Protocol<typeof presentationStates, PresentationData>
