/** Connections: as they are stored and as REST shows them (service §2.5, api.md 4.6), and their two messages (wire.md 3). */
import { z } from 'zod'
import { optional } from '../../wallet/model.ts'
import { Goals, Invitation, invitationText, Meta, MetaLastFailure, present } from '../model.ts'
import type { Protocol, Rec } from '../engine/record.ts'
import { connectionStates } from './states.ts'
import { Did } from '../../did/document.ts'
import { CredentialFormat } from '../formats.ts'

/** What is kept of it; absent where a person answers all offers. */
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

/** What says it. */
export const SetAutomaticAcceptance = z
  .object({
    credentialOffers: z
      .boolean()
      .describe('Accept offers over this connection, from now on, without a person; false for none.'),
    subjectId: optional(z.string().min(1)).describe(
      'With `credentialOffers`: whom the credentials are about, a DID of this wallet with an authentication key. AnonCreds are about no DID: it can be left out when they are the only format.',
    ),
    keyId: optional(z.string().min(1)).describe(
      'Which of its authentication keys signs, and binds an SDJWT, as in `accept-offer`.',
    ),
    credentialFormats: optional(z.array(CredentialFormat).min(1)).describe(
      'Only offers of these formats; of any when left out.',
    ),
    schemaIds: optional(z.array(z.string().min(1).max(2_000)).min(1).max(100)).describe(
      'Only offers that name a schema, and none but these, written as the issuer writes them; any offers when left out.',
    ),
    trustedIssuers: optional(z.array(Did).min(1).max(100)).describe(
      'DIDs whose credentials are kept; a credential of another issuer that was accepted automatically is refused. Offers of JWT and SDJWT name no issuer: without this list, credentials of all issuers are kept.',
    ),
  })
  .transform(({ credentialOffers, subjectId, ...terms }, context): AutomaticAcceptance | undefined => {
    if (!credentialOffers) return undefined
    const needsNone = terms.credentialFormats?.every((format) => format === 'AnonCreds') === true
    if (subjectId !== undefined || needsNone) return { credentialOffers, subjectId, ...terms }
    const message =
      'is missing: name a DID of this wallet with an authentication key, which the credentials are to be about'
    context.addIssue({ code: 'custom', path: ['subjectId'], message })
    return z.NEVER
  })
  .meta({ id: 'SetAutomaticAcceptance' })

const Label = z.string().max(255)

export const CreateConnection = z
  .object({
    label: optional(Label).describe('What the inviter calls this connection; it is not sent.'),
    ...Goals,
    automaticAcceptance: optional(SetAutomaticAcceptance),
  })
  .meta({ id: 'CreateConnectionRequest' })
export type CreateConnection = z.output<typeof CreateConnection>

export const AcceptConnectionInvitation = z
  .object({
    invitation: invitationText,
    label: optional(Label).describe('What the invitee calls this connection; it is not sent (ours).'),
    automaticAcceptance: optional(SetAutomaticAcceptance),
  })
  .meta({ id: 'AcceptConnectionInvitationRequest' })
export type AcceptConnectionInvitation = z.output<typeof AcceptConnectionInvitation>

export const UpdateConnection = z
  .object({
    label: optional(Label).describe(
      'What this side calls the connection from now on; an empty text removes the label (ours).',
    ),
    // Wrapped, since no acceptance at all is a change as well.
    automaticAcceptance: optional(SetAutomaticAcceptance.transform((acceptance) => ({ acceptance }))),
  })
  .refine(
    (change) => change.label !== undefined || change.automaticAcceptance !== undefined,
    'changes nothing: give label or automaticAcceptance',
  )
  .meta({ id: 'UpdateConnectionRequest' })
export type UpdateConnection = z.output<typeof UpdateConnection>

/** What a connection's row holds beside the fields of every record. */
export const ConnectionData = z.object({
  label: z.string().optional(),
  goalCode: z.string().optional(),
  goal: z.string().optional(),
  invitation: Invitation,
  myDid: z.string().optional(),
  theirDid: z.string().optional(),
  automaticAcceptance: AutomaticAcceptance.optional(),
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
    automaticAcceptance: AutomaticAcceptance.optional().describe(
      'Absent while a person answers all offers (ours).',
    ),
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
  const {
    id,
    thid,
    label,
    goalCode,
    goal,
    myDid,
    theirDid,
    role,
    state,
    invitation,
    automaticAcceptance,
    createdAt,
    updatedAt,
  } = record
  const { metaRetries, metaLastFailure } = record
  return present({
    connectionId: id,
    thid,
    label,
    goalCode,
    goal,
    myDid,
    theirDid,
    role,
    state,
    invitation,
    automaticAcceptance,
    createdAt,
    updatedAt,
    metaRetries,
    metaLastFailure,
    self: id,
    kind: 'Connection',
  })
}

/** The most that a request may say of its purpose: more than twice as long a text as any invitation of ours has. */
const RequestGoal = z.string().max(1_000).nullish()

/** What a request says, and the response says again (wire.md 3). Null counts as absent, other members are passed over. */
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
  problems: {
    notFound: 'error:ConnectionServiceError:RecordIdNotFound',
    wrongState: 'error:ConnectionServiceError:InvalidStateForOperation',
  },
} as const satisfies Protocol<typeof connectionStates, ConnectionData>
