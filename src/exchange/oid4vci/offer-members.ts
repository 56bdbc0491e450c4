/** What an offer consists of, in requests: one credential, or several. */
import * as z from 'zod'
import { optional } from '../../wallet/model.ts'
import { Claims } from '../issuance/offers.ts'
import { Deliver } from '../issuance/delivery.ts'
import { grants } from '../issuance/openid4vci.ts'
import { expiresIn } from '../protocols/model.ts'
import { ConfigurationId } from './configuration-members.ts'
import { ExpectedIdentity } from './grant.ts'
import { TxCode } from './tx-code.ts'

/** The terms of one credential. */
const Terms = {
  issuingDID: optional(z.string()).describe(
    'The issuer’s DID, with an assertionMethod key. Default: that of the configuration. Not for a configuration with an issuer certificate.',
  ),
  issuingKid: optional(z.string()).describe('The id of the key that signs. Default: the first (extension).'),
  validityPeriod: optional(z.number().positive()).describe(
    'Seconds for which the credential is valid (extension).',
  ),
  automaticIssuance: optional(z.boolean()).describe(
    'False: a request of the wallet waits until the issuer approves it (extension).',
  ),
}

const OfferedCredential = z
  .object({
    credentialConfigurationId: ConfigurationId,
    claims: optional(Claims).describe(
      'Required, unless the configuration has a claims source, people log in, or they present credentials.',
    ),
    ...Terms,
    credentialIdentifier: optional(
      z.string().regex(/^[\x21-\x7e]{1,200}$/, 'has no 1 to 200 visible ASCII characters'),
    ).describe('The name of the credential in requests of the wallet. Default: the id of its record.'),
  })
  .meta({ id: 'OfferedCredential' })
export type OfferedCredential = z.output<typeof OfferedCredential>

/** The most credentials of an offer. */
const maxCredentials = 10

/** The body without the rule that it has one credential or several. */
export const OfferFields = z.object({
  credentialConfigurationId: optional(ConfigurationId).describe('Required without `credentials`.'),
  claims: optional(Claims).describe(
    'Required without `credentials`, unless the configuration has a claims source, people log in, or they present credentials.',
  ),
  ...Terms,
  credentials: optional(z.array(OfferedCredential).min(1).max(maxCredentials)).describe(
    'The credentials of the offer, instead of one. Each has its own record; the wallet asks for them one after the other, and may take only some (extension).',
  ),
  grant: optional(z.enum(grants)).describe(
    'How the wallet gets access: by a code in the offer, or at the authorization server, where the holder consents. Default: authorization_code for an issuer with an external authorization server or a log-in, and for a configuration with a presentation; else pre-authorized_code (extension).',
  ),
  txCode: optional(z.union([z.boolean(), TxCode])).describe(
    'Require a transaction code, which the reply contains. Give it to the holder on another channel. Default: only for the grant authorization_code of this agent, without `expectedIdentity` and without a `match` of the presentation (extension).',
  ),
  expectedIdentity: optional(
    ExpectedIdentity.refine(
      ({ sub, claims = {} }) => sub !== undefined || Object.keys(claims).length > 0,
      'has neither sub nor claims',
    ).meta({ id: 'ExpectedIdentity', examples: [{ claims: { email: 'alice@example.org' } }] }),
  ).describe(
    'Who has to log in, at the provider of the issuer (`logIn`): the subject, or claims of it. Others get `access_denied`, and the offer stays open (extension).',
  ),
  deliver: optional(Deliver).describe(
    'Have webhooks with `deliver` send the person the link of a page with the offer, and the transaction code on another channel (extension).',
  ),
  byReference: optional(z.boolean()).describe(
    'Return the URL of the offer instead of its content, for smaller QR codes (extension).',
  ),
  expiresIn: expiresIn('ISSUANCE_INVITATION_EXPIRY'),
})

export const CreateOpenIdCredentialOffer = OfferFields.superRefine(requireCredentials).meta({
  id: 'CredentialOfferRequest',
  examples: [{ credentialConfigurationId: 'Person', claims: { name: 'Alice' } }],
})
export type CreateOpenIdCredentialOffer = z.output<typeof OfferFields>

/** One credential with its members in the body, or several in `credentials`. */
function requireCredentials(body: CreateOpenIdCredentialOffer, context: z.RefinementCtx): void {
  const { credentials } = body
  const refuse = (member: string, message: string) =>
    context.addIssue({ code: 'custom', path: [member], message })
  if (credentials === undefined) {
    if (body.credentialConfigurationId === undefined)
      refuse('credentialConfigurationId', 'Missing request parameter: credentialConfigurationId')
    return
  }
  for (const member of ['credentialConfigurationId', 'claims', ...termNames] as const)
    if (body[member] !== undefined) refuse(member, 'belongs into each of the credentials')
  const identifiers = credentials.flatMap(({ credentialIdentifier: id }) => id ?? [])
  if (new Set(identifiers).size < identifiers.length)
    refuse('credentials', 'two have the same credentialIdentifier')
}

const termNames = Object.keys(Terms) as (keyof typeof Terms)[]
