/** The requests of the API that request presentations, accept and reject them. */
import * as z from 'zod'
import { Reference } from '../../credentials/anoncreds/model.ts'
import { PresentationRequest, supportedRequest } from '../../credentials/anoncreds/presentation.ts'
import { statusPolicies } from '../../wallet/credential-status/check.ts'
import { registeredClaims } from '../../credentials/codecs/sd-jwt/sd-jwt.ts'
import { RequestedDcqlQuery } from '../../credentials/dcql/query.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import {
  credentialFormats,
  defaultFormat,
  isTokenFormat,
  traitsOf,
  formatOfId,
  isOverDidComm,
} from '../../definitions/format-names.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { firstFormatOf } from './dcql.ts'
import { ClaimNames, Options, ProofRequestAux } from './model.ts'
import { expiresIn, Goals, invitationText } from '../protocols/model.ts'
import { AcceptedIssuers } from '../../wallet/verification/trust.ts'

/** A presentation request whose nonce is optional. */
const NewPresentationRequest = supportedRequest(PresentationRequest.partial({ nonce: true }))

/** The fields of a request over a connection or in an invitation. */
const RequestFields = z.object({
  options: optional(Options).describe(
    'Challenge and domain. Default: generated, with a challenge that names this verifier, so that no other one can pass it on.',
  ),
  proofs: z
    .array(ProofRequestAux)
    .nullish()
    .transform((proofs) => proofs ?? [])
    .describe(
      'The requested credentials: for each a schema and its trusted issuers (default: all). Each credential must satisfy an entry, and each entry must be satisfied. For SDJWT at most one entry. An empty list accepts all credentials.',
    ),
  policyId: optional(Uuid).describe(
    'A verification policy that the presentation must satisfy as well. Later changes of the policy have no effect.',
  ),
  issuers: optional(AcceptedIssuers).describe(
    'The accepted issuers, whatever the schema (extension): their DIDs; `trusted`, which are trust anchors of this wallet, or have a certificate below one; `known`, which are trusted or DIDs of this wallet; or `any`. Default: `any`. `proofs` and a policy apply as well.',
  ),
  statusCheck: optional(z.enum(statusPolicies)).describe(
    'The check of credential status: `required` (default) accepts only credentials that are known to be valid, `if-available` also those whose status list is not available, `off` all.',
  ),
  credentialFormat: optional(CredentialFormat).describe(
    'Default: AnonCreds with an anoncredPresentationRequest, otherwise JWT.',
  ),
  presentationFormat: optional(z.enum([...credentialFormats, 'Anoncred'])).describe(
    'The same as `credentialFormat`.',
  ),
  anoncredPresentationRequest: optional(NewPresentationRequest).describe(
    'AnonCreds: the requested attributes and predicates.',
  ),
  claims: optional(ClaimNames).describe(
    'SDJWT: the claims that the presentation must disclose, by name. The value `{"city": ""}` requests one member of the claim, any value that is not an object the whole claim.',
  ),
  dcqlQuery: optional(RequestedDcqlQuery).describe(
    'The requested credentials and claims as a query in DCQL, instead of `proofs`, `claims` and a format (extension). Wallets that do not know such requests answer with a problem report.',
  ),
})

const notOverDidComm = (format: string) =>
  `${format} credentials are presented over OpenID4VP, whose session their holder signs: agent proof request --oid4vp`

/** Determines the format and checks the members that depend on it. */
function toRequestTerms({ dcqlQuery, ...given }: Fields, context: z.RefinementCtx): RequestTerms {
  const { credentialFormat, presentationFormat, claims, anoncredPresentationRequest, ...requested } = given
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
  if (dcqlQuery) {
    const members = { credentialFormat, presentationFormat, claims, anoncredPresentationRequest }
    const others = { ...members, proofs: requested.proofs.length > 0 ? requested.proofs : undefined }
    for (const [name, value] of Object.entries(others))
      if (value !== undefined)
        refuse([name], 'cannot be combined with dcqlQuery, which says what is requested')
    for (const [index, { format }] of dcqlQuery.credentials.entries())
      if (!isOverDidComm(formatOfId(format)!))
        refuse(['dcqlQuery', 'credentials', String(index), 'format'], notOverDidComm(format))
    return { ...requested, credentialFormat: firstFormatOf(dcqlQuery), dcqlQuery }
  }
  const named = presentationFormat === 'Anoncred' ? 'AnonCreds' : presentationFormat
  const format = credentialFormat ?? named ?? (anoncredPresentationRequest ? 'AnonCreds' : defaultFormat)
  const { isSelective } = traitsOf(format)
  if (!isOverDidComm(format)) refuse(['credentialFormat'], notOverDidComm(format))
  if (named !== undefined && named !== format)
    refuse(['presentationFormat'], `is not the credentialFormat, ${format}`)
  if (isTokenFormat(format) && !isSelective && Object.keys(claims ?? {}).length > 0)
    refuse(['claims'], `is for the format SDJWT: a ${format} credential is presented as a whole`)
  const always = Object.keys(claims ?? {}).find((name) =>
    (registeredClaims as readonly string[]).includes(name),
  )
  if (always !== undefined) refuse(['claims', always], 'is always disclosed and need not be requested')
  if (isTokenFormat(format)) {
    if (isSelective && requested.proofs.length > 1)
      refuse(
        ['proofs'],
        `has ${requested.proofs.length} entries, and a presentation of ${format} has one credential: send one request for each`,
      )
    if (anoncredPresentationRequest)
      refuse(['anoncredPresentationRequest'], `is for the format AnonCreds, not for ${format}`)
    return { ...requested, credentialFormat: format, ...(isSelective && { claims: claims ?? {} }) }
  }
  if (!anoncredPresentationRequest)
    refuse(['anoncredPresentationRequest'], 'is missing: it has the requested attributes and predicates')
  if (Object.keys(claims ?? {}).length > 0)
    refuse(['claims'], 'is for the format SDJWT: request attributes in anoncredPresentationRequest')
  if (requested.proofs.length > 0)
    refuse(['proofs'], 'is not for the format AnonCreds: use restrictions in anoncredPresentationRequest')
  if (requested.statusCheck !== undefined)
    refuse(
      ['statusCheck'],
      'is not for the format AnonCreds: this agent does not support revocation of AnonCreds',
    )
  return { ...requested, credentialFormat: format, anoncredPresentationRequest }
}
type Fields = z.output<typeof RequestFields>
export type RequestTerms = Pick<Fields, 'options' | 'proofs' | 'policyId' | 'issuers' | 'statusCheck'> &
  Partial<Pick<Fields, 'claims' | 'anoncredPresentationRequest' | 'dcqlQuery'>> & {
    credentialFormat: CredentialFormat
  }

export const RequestPresentation = RequestFields.extend({
  connectionId: Uuid.describe('The connection over which the request is sent.'),
  goalCode: optional(z.string()),
  goal: optional(z.string()),
})
  .transform(({ connectionId, goalCode, goal, ...requested }, context) => ({
    connectionId,
    goalCode,
    goal,
    ...toRequestTerms(requested, context),
  }))
  .meta({ id: 'RequestPresentationInput' })
export type RequestPresentation = z.output<typeof RequestPresentation>

export const InviteToPresent = RequestFields.extend({
  ...Goals,
  expiresIn: expiresIn('PRESENTATION_INVITATION_EXPIRY'),
})
  .transform(({ goalCode, goal, expiresIn: lifetimeSeconds, ...requested }, context) => ({
    goalCode,
    goal,
    lifetimeSeconds,
    ...toRequestTerms(requested, context),
  }))
  .meta({ id: 'RequestPresentationInvitationInput' })
export type InviteToPresent = z.output<typeof InviteToPresent>

export const AcceptRequestInvitation = z
  .object({ invitation: invitationText })
  .meta({ id: 'AcceptRequestPresentationInvitation' })

/** The references that a credential answers. */
export const CredentialProof = z
  .object({
    credential: z
      .string()
      .describe(
        'The record id of a credential of this wallet; the same in all entries, because a proof uses one credential.',
      ),
    requestedAttribute: z.array(Reference).max(125).describe('References of the attributes to reveal.'),
    requestedPredicate: z.array(Reference).max(125).describe('References of the predicates to prove.'),
    unrevealedAttribute: z
      .array(Reference)
      .max(125)
      .nullish()
      .transform((references) => references ?? [])
      .describe('References of the attributes to prove without revealing them.'),
  })
  .meta({ id: 'AnoncredCredentialProof' })
export type CredentialProof = z.output<typeof CredentialProof>

export const RequestPresentationAction = z
  .object({
    action: z.enum(['request-accept', 'request-reject', 'presentation-accept', 'presentation-reject']),
    proofId: optional(z.array(z.string()).max(100)).describe(
      '`request-accept`: the record ids of the credentials to present; for SDJWT exactly one.',
    ),
    claims: optional(ClaimNames).describe(
      '`request-accept`, SDJWT: the claims to disclose, by name. Default: the requested ones.',
    ),
    credentialFormat: optional(CredentialFormat).describe(
      '`request-accept`: the format that the request must have.',
    ),
    anoncredPresentationRequest: optional(
      z
        .object({ credentialProofs: z.array(CredentialProof).max(20) })
        .meta({ id: 'AnoncredCredentialProofs' }),
    ).describe(
      '`request-accept`, AnonCreds: the credential for each reference. `proofId` with one credential answers and reveals all.',
    ),
  })
  .meta({ id: 'RequestPresentationAction' })
export type RequestPresentationAction = z.output<typeof RequestPresentationAction>
