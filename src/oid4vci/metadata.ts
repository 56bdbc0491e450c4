/** The public metadata of an issuer and of its built-in authorization server (VCI §12.2, §12.3, RFC 8414). */
import * as z from 'zod'
import type { AgentDb } from '../storage/database.ts'
import { claimsOf } from './configurations.ts'
import { vctOf } from './credential-types.ts'
import { vciFormats, type VciFormatId } from './formats.ts'
import { getIssuer, identifierOf } from './issuers.ts'

export const preAuthorizedGrant = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

/** The most proofs in a request. Each gets a credential. */
export const maxBatch = 10

/** The algorithms of key proofs. */
export const proofAlgorithms = ['EdDSA', 'ES256K', 'ES256'] as const

/** The algorithms of the wallet's DIDs. */
const signingAlgorithms = ['ES256K', 'EdDSA', 'ES256']

const bindingMethods = ['did:prism', 'did:key', 'did:jwk', 'did:web', 'did:peer', 'jwk']

const ConfigurationMetadata = z.looseObject({ format: z.string(), scope: z.string() })

export const IssuerMetadata = z
  .object({
    credential_issuer: z.string(),
    authorization_servers: z.array(z.string()).optional(),
    credential_endpoint: z.string(),
    deferred_credential_endpoint: z.string(),
    nonce_endpoint: z.string(),
    notification_endpoint: z.string(),
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
    token_endpoint_auth_methods_supported: z.array(z.string()),
    'pre-authorized_grant_anonymous_access_supported': z.boolean(),
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
  const rows = await db
    .selectFrom('credential_configuration')
    .selectAll()
    .where('issuer_id', '=', issuerId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const identifier = identifierOf(base, issuerId)
  const configurations = rows.map((row) => [
    row.id,
    {
      format: row.format,
      scope: row.id,
      cryptographic_binding_methods_supported: bindingMethods,
      credential_signing_alg_values_supported: signingAlgorithms,
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: [...proofAlgorithms] } },
      ...vciFormats[row.format as VciFormatId].describe({ claims: claimsOf(row), vct: vctOf(base, row) }),
    },
  ])
  return {
    credential_issuer: identifier,
    // This agent redeems pre-authorized codes, also for an issuer with an external server.
    ...(issuer.authorization_server !== null && {
      authorization_servers: [issuer.authorization_server, identifier],
    }),
    credential_endpoint: `${identifier}/credentials`,
    deferred_credential_endpoint: `${identifier}/deferred-credentials`,
    nonce_endpoint: `${identifier}/nonce`,
    notification_endpoint: `${identifier}/notifications`,
    batch_credential_issuance: { batch_size: maxBatch },
    credential_configurations_supported: Object.fromEntries(configurations) as Record<
      string,
      z.infer<typeof ConfigurationMetadata>
    >,
  }
}

/** @throws {Problem} 404 */
export async function readAuthorizationServerMetadata(
  db: AgentDb,
  base: string,
  issuerId: string,
): Promise<AuthorizationServerMetadata> {
  await getIssuer(db, issuerId)
  const issuer = identifierOf(base, issuerId)
  return {
    issuer,
    token_endpoint: `${issuer}/token`,
    grant_types_supported: [preAuthorizedGrant],
    token_endpoint_auth_methods_supported: ['none'],
    'pre-authorized_grant_anonymous_access_supported': true,
  }
}
