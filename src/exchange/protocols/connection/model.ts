/**
 * Connections: the requests of the API, the stored fields, the REST resource, and the body of the two
 * messages.
 */
import * as z from 'zod'
import { isTokenFormat } from '../../../definitions/format-names.ts'
import { optional } from '../../../wallet/model.ts'
import {
  ExpiresAt,
  expiresIn,
  Goals,
  Invitation,
  invitationText,
  Meta,
  MetaLastFailure,
  toExpiresAt,
} from '../model.ts'
import { requestDigest } from '../../engine/idempotency.ts'
import type { Protocol, Rec } from '../../engine/protocol.ts'
import { connectionStates } from '../../../definitions/connection.ts'
import { Did } from '../../../did/document.ts'
import { CredentialFormat } from '../attachments.ts'

/** Which offers the wallet accepts automatically. Absent if a person answers all offers. */
export const AutomaticAcceptance = z
  .object({
    credentialOffers: z.literal(true),
    subjectId: z.string().optional(),
    keyId: z.string().optional(),
    credentialFormats: z.array(CredentialFormat).optional(),
    schemaIds: z.array(z.string()).optional(),
    trustedIssuers: z.array(z.string()).optional(),
  })
  .meta({ id: 'AutomaticAcceptance' })
export type AutomaticAcceptance = z.infer<typeof AutomaticAcceptance>

/** The same in a request, which may also turn it off. */
export const SetAutomaticAcceptance = z
  .object({
    credentialOffers: z
      .boolean()
      .describe('Accept offers over this connection automatically from now on; false turns it off.'),
    subjectId: optional(z.string().min(1)).describe(
      'The subject of the credentials: a DID of this wallet with an authentication key. Optional if AnonCreds is the only format, because AnonCreds credentials have no subject DID.',
    ),
    keyId: optional(z.string().min(1)).describe(
      'The authentication key that signs, and that an SDJWT is bound to, as in `accept-offer`.',
    ),
    credentialFormats: optional(z.array(CredentialFormat).min(1)).describe(
      'Accept only offers of these formats; default: all.',
    ),
    schemaIds: optional(z.array(z.string().min(1).max(2_000)).min(1).max(100)).describe(
      'Accept only offers that name schemas, and only these, by the URLs that the issuer uses; default: all offers.',
    ),
    trustedIssuers: optional(z.array(Did).min(1).max(100)).describe(
      'Issuer DIDs. A credential of another issuer is refused, because offers of JWT and SDJWT do not name the issuer; default: all issuers.',
    ),
  })
  .transform(({ credentialOffers, subjectId, ...terms }, context): AutomaticAcceptance | undefined => {
    if (!credentialOffers) return undefined
    const needsNone = terms.credentialFormats?.every((format) => !isTokenFormat(format)) === true
    if (subjectId !== undefined || needsNone) return { credentialOffers, subjectId, ...terms }
    const message =
      'is missing: name a DID of this wallet with an authentication key as the subject of the credentials'
    context.addIssue({ code: 'custom', path: ['subjectId'], message })
    return z.NEVER
  })
  .meta({ id: 'SetAutomaticAcceptance' })

const Label = z.string().max(255)

export const CreateConnection = z
  .object({
    label: optional(Label).describe('The inviter’s name for this connection; it is not sent.'),
    ...Goals,
    expiresIn: expiresIn('CONNECT_INVITATION_EXPIRY'),
    automaticAcceptance: optional(SetAutomaticAcceptance),
  })
  .meta({ id: 'CreateConnectionRequest' })
export type CreateConnection = z.output<typeof CreateConnection>

export const AcceptConnectionInvitation = z
  .object({
    invitation: invitationText,
    label: optional(Label).describe('The invitee’s name for this connection; it is not sent.'),
    automaticAcceptance: optional(SetAutomaticAcceptance),
  })
  .meta({ id: 'AcceptConnectionInvitationRequest' })
export type AcceptConnectionInvitation = z.output<typeof AcceptConnectionInvitation>

export const UpdateConnection = z
  .object({
    label: optional(Label).describe('The new label; an empty text removes it.'),
    // Wrapped, because turning it off (undefined) is a change as well.
    automaticAcceptance: optional(SetAutomaticAcceptance.transform((acceptance) => ({ acceptance }))),
  })
  .refine(
    (change) => change.label !== undefined || change.automaticAcceptance !== undefined,
    'changes nothing: give label or automaticAcceptance',
  )
  .meta({ id: 'UpdateConnectionRequest' })
export type UpdateConnection = z.output<typeof UpdateConnection>

/** The stored fields of a connection. */
export const ConnectionData = z.object({
  label: z.string().optional(),
  goalCode: z.string().optional(),
  goal: z.string().optional(),
  /** `expiresTime`, in epoch seconds, is that of an own invitation. Absent in records of earlier releases. */
  invitation: Invitation.extend({ expiresTime: z.number().optional() }),
  myDid: z.string().optional(),
  theirDid: z.string().optional(),
  automaticAcceptance: AutomaticAcceptance.optional(),
  requestDigest,
  ...Meta,
})
export type ConnectionData = z.output<typeof ConnectionData>

export const Connection = z
  .object({
    connectionId: z.guid(),
    thid: z.string(),
    label: z.string().optional(),
    goalCode: z.string().optional(),
    goal: z.string().optional(),
    myDid: z.string().optional(),
    theirDid: z.string().optional(),
    role: z.enum(['Inviter', 'Invitee']),
    state: z.enum([...new Set(connectionStates.rows.map((row) => row[3]))]),
    invitation: Invitation,
    expiresAt: ExpiresAt,
    automaticAcceptance: AutomaticAcceptance.optional().describe('Absent while a person answers all offers.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime().optional(),
    metaRetries: z.int(),
    metaLastFailure: MetaLastFailure.optional(),
    self: z.string(),
    kind: z.literal('Connection'),
  })
  .meta({ id: 'Connection' })
export type Connection = z.infer<typeof Connection>

export type ConnectionRecord = Rec<typeof connectionStates, ConnectionData>

/** A connection as REST and events show it. */
export function toConnection(record: ConnectionRecord): Connection {
  const { expiresTime: _expiresTime, ...invitation } = record.invitation
  return {
    connectionId: record.id,
    thid: record.thid,
    label: record.label,
    goalCode: record.goalCode,
    goal: record.goal,
    myDid: record.myDid,
    theirDid: record.theirDid,
    role: record.role,
    state: record.state,
    invitation,
    expiresAt: toExpiresAt(endsAt(record)),
    automaticAcceptance: record.automaticAcceptance,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    metaRetries: record.metaRetries,
    metaLastFailure: record.metaLastFailure,
    self: record.id,
    kind: 'Connection',
  }
}

function endsAt({ state, invitation }: ConnectionRecord): number | undefined {
  return state === 'InvitationGenerated' ? invitation.expiresTime : undefined
}

/** A purpose in another agent's message may be longer than in an invitation of this agent. */
const RequestGoal = z.string().max(1_000).nullish()

/** The body of a request, which the response repeats. Null counts as absent; other members are ignored. */
export const RequestBody = z.object({
  goal_code: RequestGoal,
  goal: RequestGoal,
  /** Media types. */
  accept: z.array(z.string().max(255)).max(100).nullish(),
})

export const connection = {
  ...connectionStates,
  model: ConnectionData,
  messages: {
    request: 'https://atalaprism.io/mercury/connections/1.0/request',
    response: 'https://atalaprism.io/mercury/connections/1.0/response',
    'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report',
  },
  toResource: toConnection,
  endsAt,
  gauge: 'connection_flow_did_com_exchange_job_ms_gauge',
  problems: {
    notFound: 'error:ConnectionServiceError:RecordIdNotFound',
    wrongState: 'error:ConnectionServiceError:InvalidStateForOperation',
  },
} as const satisfies Protocol<typeof connectionStates, ConnectionData>
