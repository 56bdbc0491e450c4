/** The public metadata of an issuer and of its built-in authorization server (VCI §12.2, §12.3, RFC 8414). */
import * as z from 'zod'
import { type OpenIdFormat, openIdTraits } from '../../definitions/format-names.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { describeClaims } from './claim-settings.ts'
import { claimsOf } from './claims.ts'
import { accessOf } from './configuration-access.ts'
import { settingsOf } from './configuration-settings.ts'
import { type ConfigurationRow, configurationsOf } from './configurations.ts'
import { credentialDisplayOf, issuerDisplayOf, toMetadataDisplay } from './display.ts'
import { describeEncryption, EncryptionMetadata } from './encryption.ts'
import { findEncryptionJwk } from './encryption-key.ts'
import { typeOf } from './credential-types.ts'
import { getIssuer, identifierOf, type IssuerRow } from './issuers.ts'
import { requirementOf, toMetadata } from './key-attestation.ts'
import { algorithmsOf, providersOf } from './wallet-providers.ts'
import { preAuthorizedGrant } from '../../foundation/oauth/parameters.ts'

/** The most proofs in a request. Each gets a credential. */
export const maxBatch = 10

/** The algorithms of DPoP proofs, and of the proofs of client attestations. */
export const proofAlgorithms = ['EdDSA', 'ES256K', 'ES256'] as const

const ConfigurationMetadata = z.looseObject({ format: z.string(), scope: z.string() })

export const IssuerMetadata = z
  .object({
    credential_issuer: z.string(),
    display: z.array(z.looseObject({ name: z.string() })).optional(),
    authorization_servers: z.array(z.string()).optional(),
    credential_endpoint: z.string(),
    deferred_credential_endpoint: z.string(),
    nonce_endpoint: z.string(),
    notification_endpoint: z.string(),
    ...EncryptionMetadata.shape,
    batch_credential_issuance: z.object({ batch_size: z.int() }),
    credential_configurations_supported: z.record(z.string(), ConfigurationMetadata),
  })
  .meta({ id: 'IssuerMetadata' })
export type IssuerMetadata = z.infer<typeof IssuerMetadata>

export const AuthorizationServerMetadata = z
  .object({
    issuer: z.string(),
    token_endpoint: z.string(),
    grant_types_supported: z.array(z.string()),
    revocation_endpoint: z.string().optional(),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    client_attestation_signing_alg_values_supported: z.array(z.string()).optional(),
    client_attestation_pop_signing_alg_values_supported: z.array(z.string()).optional(),
    require_pushed_authorization_requests: z.boolean().optional(),
    dpop_signing_alg_values_supported: z.array(z.string()),
    'pre-authorized_grant_anonymous_access_supported': z.boolean(),
    authorization_endpoint: z.string().optional(),
    pushed_authorization_request_endpoint: z.string().optional(),
    response_types_supported: z.array(z.string()).optional(),
    response_modes_supported: z.array(z.string()).optional(),
    code_challenge_methods_supported: z.array(z.string()).optional(),
    authorization_response_iss_parameter_supported: z.boolean().optional(),
    authorization_details_types_supported: z.array(z.string()).optional(),
    scopes_supported: z.array(z.string()).optional(),
  })
  .meta({ id: 'AuthorizationServerMetadata' })
export type AuthorizationServerMetadata = z.infer<typeof AuthorizationServerMetadata>

/** @throws {Problem} 404 */
export async function readIssuerMetadata(
  db: AgentDb,
  base: string,
  issuerId: string,
): Promise<IssuerMetadata> {
  const issuer = await getIssuer(db, issuerId)
  const rows = await configurationsOf(db, issuerId)
  const identifier = identifierOf(base, issuerId)
  const encryptionKey = findEncryptionJwk(issuer)
  const display = issuerDisplayOf(issuer)
  const configurations = rows.map((row) => [
    row.id,
    {
      format: row.format,
      scope: row.id,
      proof_types_supported: proofTypesOf(issuer, row),
      ...describeType(base, row),
    },
  ])
  return {
    credential_issuer: identifier,
    ...(display && { display: toMetadataDisplay(display) as IssuerMetadata['display'] }),
    // This agent redeems pre-authorized codes, also for an issuer with an external server.
    ...(issuer.authorization_server !== null && {
      authorization_servers: [issuer.authorization_server, identifier],
    }),
    credential_endpoint: `${identifier}/credentials`,
    deferred_credential_endpoint: `${identifier}/deferred-credentials`,
    nonce_endpoint: `${identifier}/nonce`,
    notification_endpoint: `${identifier}/notifications`,
    ...(encryptionKey && describeEncryption(encryptionKey, issuer.encryption_required === 1)),
    batch_credential_issuance: { batch_size: maxBatch },
    credential_configurations_supported: Object.fromEntries(configurations) as Record<
      string,
      z.infer<typeof ConfigurationMetadata>
    >,
  }
}

/**
 * The members that depend on the format (VCI Appendix A), and `credential_metadata` (VCI §12.2.4, Appendix
 * B), whose claims must not be an empty array.
 */
function describeType(base: string, row: ConfigurationRow): object {
  const { bindingMethods, signingAlgorithms, configurationMember, claimsRoot } = traitsOf(row)
  const named = typeOf(base, row)
  const type = configurationMember === 'credential_definition' ? { type: [named] } : named
  const claims = describeClaims(claimsOf(row), settingsOf(row).claims).map(({ path, stored, setting }) => ({
    path: configurationMember === 'doctype' ? path : [...claimsRoot, ...path],
    ...(stored && { mandatory: stored.mandatory }),
    ...labelsOf(setting?.labels, stored?.title),
  }))
  const display = credentialDisplayOf(row)
  const about = {
    ...(display && { display: toMetadataDisplay(display) }),
    ...(claims.length > 0 && { claims }),
  }
  return {
    cryptographic_binding_methods_supported: bindingMethods,
    credential_signing_alg_values_supported: signingAlgorithms,
    [configurationMember]: type,
    ...(Object.keys(about).length > 0 && { credential_metadata: about }),
  }
}

function labelsOf(labels: Record<string, string> | undefined, title: string | undefined) {
  if (labels) return { display: Object.entries(labels).map(([locale, name]) => ({ name, locale })) }
  return title === undefined ? {} : { display: [{ name: title }] }
}

/** @throws {Problem} 404 */
export async function readAuthorizationServerMetadata(
  db: AgentDb,
  base: string,
  issuerId: string,
): Promise<AuthorizationServerMetadata> {
  const row = await getIssuer(db, issuerId)
  const issuer = identifierOf(base, issuerId)
  const isBuiltIn = row.authorization_server === null
  const providers = providersOf(row)
  const isAttested = providers?.attestation === 'required'
  const configurations = await configurationsOf(db, issuerId)
  const isRenewed = configurations.some((each) => accessOf(each).renewal)
  return {
    issuer,
    token_endpoint: `${issuer}/token`,
    grant_types_supported: [
      ...(isBuiltIn ? ['authorization_code'] : []),
      preAuthorizedGrant,
      ...(isRenewed ? ['refresh_token'] : []),
    ],
    ...(isRenewed && { revocation_endpoint: `${issuer}/revoke` }),
    token_endpoint_auth_methods_supported: [
      ...(providers ? ['attest_jwt_client_auth'] : []),
      ...(isAttested ? [] : ['none']),
    ],
    ...(providers && {
      client_attestation_signing_alg_values_supported: algorithmsOf(providers),
      client_attestation_pop_signing_alg_values_supported: [...proofAlgorithms],
    }),
    dpop_signing_alg_values_supported: [...proofAlgorithms],
    'pre-authorized_grant_anonymous_access_supported': !isAttested,
    ...(isBuiltIn && {
      authorization_endpoint: `${issuer}/authorize`,
      pushed_authorization_request_endpoint: `${issuer}/par`,
      ...(isAttested && { require_pushed_authorization_requests: true }),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      authorization_details_types_supported: ['openid_credential'],
      scopes_supported: configurations.map(({ id }) => id),
    }),
  }
}

const traitsOf = ({ format }: ConfigurationRow) => openIdTraits(format as OpenIdFormat)

/** VCI §12.2.4. An attestation is a proof if the issuer trusts a wallet provider. */
function proofTypesOf(issuer: IssuerRow, configuration: ConfigurationRow) {
  const [providers, requirement] = [providersOf(issuer), requirementOf(configuration)]
  const required = requirement && toMetadata(requirement)
  const accepted: readonly string[] = traitsOf(configuration).holderAlgorithms
  return {
    jwt: { proof_signing_alg_values_supported: accepted, ...required },
    ...(providers && {
      attestation: {
        proof_signing_alg_values_supported: algorithmsOf(providers).filter((algorithm) =>
          accepted.includes(algorithm),
        ),
        ...required,
      },
    }),
  }
}
