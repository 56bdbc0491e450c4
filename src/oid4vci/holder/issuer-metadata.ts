/**
 * Metadata of credential issuers and of authorization servers, as a wallet reads them (VCI §12.2.4, RFC 8414 §2). Members that are not listed
 * here are ignored, as both specifications require.
 */
import * as z from 'zod'

const Strings = z.array(z.string()).min(1)

/** Names of issuers, credentials and claims for a language (BCP 47). */
const Display = z.array(z.looseObject({ name: z.string().optional(), locale: z.string().optional() })).min(1)

/** A claim of a credential (VCI Appendix B). */
const ClaimDescription = z.looseObject({
  path: z.array(z.union([z.string(), z.null(), z.int().nonnegative()])).min(1),
  mandatory: z.boolean().optional(),
  display: Display.optional(),
})
const Claims = z.array(ClaimDescription).min(1)

const ProofType = z.looseObject({
  proof_signing_alg_values_supported: Strings,
  key_attestations_required: z
    .looseObject({ key_storage: Strings.optional(), user_authentication: Strings.optional() })
    .optional(),
})

/** A member that a format requires (VCI §A.1.1.2, §A.3.2). */
const requiredMembers: Readonly<Record<string, string>> = {
  'dc+sd-jwt': 'vct',
  jwt_vc_json: 'credential_definition',
}

/** A credential that an issuer offers (VCI §12.2.4). */
const Configuration = z
  .looseObject({
    format: z.string(),
    scope: z.string().optional(),
    vct: z.string().optional(),
    credential_definition: z.looseObject({ type: Strings }).optional(),
    cryptographic_binding_methods_supported: Strings.optional(),
    proof_types_supported: z.record(z.string(), ProofType).optional(),
    credential_metadata: z.looseObject({ display: Display.optional(), claims: Claims.optional() }).optional(),
    display: Display.optional(),
    claims: Claims.optional(),
  })
  .superRefine((configuration, context) => {
    const member = requiredMembers[configuration.format]
    if (member !== undefined && configuration[member] === undefined)
      context.addIssue({
        code: 'custom',
        path: [member],
        message: `is missing, and the format ${configuration.format} requires it`,
      })
  })

const JwkSet = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) })

export const ReceivedIssuerMetadata = z.looseObject({
  credential_issuer: z.url(),
  credential_endpoint: z.url(),
  authorization_servers: z.array(z.url()).min(1).optional(),
  nonce_endpoint: z.url().optional(),
  deferred_credential_endpoint: z.url().optional(),
  notification_endpoint: z.url().optional(),
  batch_credential_issuance: z.looseObject({ batch_size: z.int().min(2) }).optional(),
  credential_request_encryption: z
    .looseObject({ jwks: JwkSet, enc_values_supported: Strings, encryption_required: z.boolean() })
    .optional(),
  credential_response_encryption: z
    .looseObject({
      alg_values_supported: Strings,
      enc_values_supported: Strings,
      encryption_required: z.boolean(),
    })
    .optional(),
  display: Display.optional(),
  credential_configurations_supported: z.record(z.string(), Configuration),
})
export type ReceivedIssuerMetadata = z.infer<typeof ReceivedIssuerMetadata>

export const ReceivedServerMetadata = z.looseObject({
  issuer: z.url(),
  token_endpoint: z.url().optional(),
  authorization_endpoint: z.url().optional(),
  pushed_authorization_request_endpoint: z.url().optional(),
  challenge_endpoint: z.url().optional(),
  jwks_uri: z.url().optional(),
  grant_types_supported: z.array(z.string()).optional(),
  response_types_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  dpop_signing_alg_values_supported: z.array(z.string()).optional(),
  'pre-authorized_grant_anonymous_access_supported': z.boolean().optional(),
})
export type ReceivedServerMetadata = z.infer<typeof ReceivedServerMetadata>
