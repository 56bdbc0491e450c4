/** Which offers over a connection the wallet's owner accepts beforehand (ours); off unless it is said. */
import { z } from 'zod'
import { Did } from '../../did/document.ts'
import { optional } from '../../wallet/model.ts'
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
