/**
 * Metadata of credential issuers and of authorization servers, as a wallet reads them (VCI §12.2.4, RFC 8414
 * §2): the members that it needs are strict. Of the configurations, only the offered one is read.
 */
import * as z from 'zod'
import { ifValid, validOnes } from '../../../foundation/foreign.ts'
import { type OpenIdFormat, openIdTraits } from '../../../definitions/format-names.ts'
import { KeySet } from '../../../foundation/crypto/key-set.ts'

const Texts = validOnes(z.string())

/** Names of issuers, credentials and claims for a language (BCP 47). */
const Display = ifValid(validOnes(z.looseObject({ name: ifValid(z.string()), locale: ifValid(z.string()) })))

/** Claims of a credential (VCI Appendix B). */
const Claims = ifValid(
  validOnes(
    z.looseObject({
      path: z.array(z.union([z.string(), z.null(), z.int().nonnegative()])).min(1),
      mandatory: ifValid(z.boolean()),
      display: Display,
    }),
  ),
)

const ProofType = z.looseObject({
  proof_signing_alg_values_supported: Texts,
  key_attestations_required: z
    .looseObject({ key_storage: Texts.optional(), user_authentication: Texts.optional() })
    .optional(),
})

/** A credential that an issuer offers (VCI §12.2.4). Proof types that this wallet does not have are not read. */
export const ReceivedConfiguration = z
  .looseObject({
    format: z.string(),
    scope: ifValid(z.string().min(1)),
    vct: ifValid(z.string()),
    doctype: ifValid(z.string().min(1)),
    credential_definition: ifValid(z.looseObject({ type: z.array(z.string()).min(1) })),
    cryptographic_binding_methods_supported: Texts.optional(),
    proof_types_supported: z
      .looseObject({ jwt: ProofType.optional(), attestation: ProofType.optional() })
      .optional(),
    credential_metadata: ifValid(z.looseObject({ display: Display, claims: Claims })),
    display: Display,
    claims: Claims,
  })
  .superRefine((configuration, context) => {
    // VCI §A.1.1.2, §A.3.2.
    const member = openIdTraits(configuration.format)?.configurationMember
    if (member !== undefined && configuration[member] === undefined)
      context.addIssue({
        code: 'custom',
        path: [member],
        message: `is missing or malformed, and the format ${configuration.format} requires it`,
      })
  })
export type ReceivedConfiguration = z.output<typeof ReceivedConfiguration>

/** The `vct`, or the types of the credential. */
export function typesOf(
  { vct, doctype, credential_definition: definition }: ReceivedConfiguration,
  format: OpenIdFormat,
): string[] {
  return { vct: [vct!], doctype: [doctype!], credential_definition: definition?.type ?? [] }[
    openIdTraits(format).configurationMember
  ]
}

export const ReceivedIssuerMetadata = z.looseObject({
  credential_issuer: z.url(),
  credential_endpoint: z.url(),
  authorization_servers: validOnes(z.url()).optional(),
  nonce_endpoint: z.url().optional(),
  deferred_credential_endpoint: ifValid(z.url()),
  notification_endpoint: ifValid(z.url()),
  batch_credential_issuance: ifValid(z.looseObject({ batch_size: z.int().positive() })),
  credential_request_encryption: ifValid(
    z.looseObject({
      jwks: ifValid(KeySet),
      enc_values_supported: ifValid(Texts),
      encryption_required: ifValid(z.boolean()),
    }),
  ),
  credential_response_encryption: ifValid(
    z.looseObject({
      alg_values_supported: ifValid(Texts),
      enc_values_supported: ifValid(Texts),
      encryption_required: ifValid(z.boolean()),
    }),
  ),
  display: Display,
  /** See `ReceivedConfiguration`. */
  credential_configurations_supported: z.record(z.string(), z.unknown()),
})
export type ReceivedIssuerMetadata = z.output<typeof ReceivedIssuerMetadata>

export const ReceivedServerMetadata = z.looseObject({
  issuer: z.url(),
  token_endpoint: z.url().optional(),
  authorization_endpoint: ifValid(z.url()),
  pushed_authorization_request_endpoint: ifValid(z.url()),
  challenge_endpoint: ifValid(z.url()),
  jwks_uri: ifValid(z.url()),
  grant_types_supported: ifValid(Texts),
  response_types_supported: ifValid(Texts),
  code_challenge_methods_supported: ifValid(Texts),
  token_endpoint_auth_methods_supported: ifValid(Texts),
  dpop_signing_alg_values_supported: ifValid(Texts),
  'pre-authorized_grant_anonymous_access_supported': ifValid(z.boolean()),
})
export type ReceivedServerMetadata = z.output<typeof ReceivedServerMetadata>
