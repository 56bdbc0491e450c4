/** Documents of OpenID4VCI in JSON: offers, metadata of issuers and authorization servers, and the metadata of a credential type. */
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { TypeMetadata } from '../credentials/sd-jwt/type-metadata.ts'
import { describePath } from '../dcql/match.ts'
import { preAuthorizedGrant, ReceivedOffer } from '../oid4vci/holder/credential-offer.ts'
import { ReceivedIssuerMetadata, ReceivedServerMetadata } from '../oid4vci/holder/issuer-metadata.ts'
import { type Decoded, type Facts, reading, textOf } from './decoded.ts'

/** A document whose facts say the most important. */
export function documentOf(kind: string, title: string, facts: Facts, document: JsonObject): Decoded {
  return { kind, title, facts, checks: [], content: { document }, parts: [] }
}

/** @throws {DecodeError} */
export function credentialOffer(value: unknown): Decoded {
  const offer = reading('an OpenID4VCI credential offer', 'content', () => ReceivedOffer.parse(value))
  const { grants = {} } = offer
  const code = grants[preAuthorizedGrant]
  const transaction = code?.tx_code
  const servers = [code?.authorization_server, grants.authorization_code?.authorization_server]
  return documentOf(
    'credential-offer',
    'OpenID4VCI credential offer',
    {
      issuer: offer.credential_issuer,
      credentials: offer.credential_configuration_ids,
      grants: Object.keys(grants).map((name) => (name === preAuthorizedGrant ? 'pre-authorized_code' : name)),
      'transaction code': transaction && describeTxCode(transaction),
      'authorization server': servers.find((each) => each !== undefined),
    },
    offer,
  )
}

function describeTxCode({
  input_mode: mode = 'numeric',
  length,
  description,
}: {
  input_mode?: string | undefined
  length?: number | undefined
  description?: string | undefined
}): string {
  return [
    'needed:',
    length,
    mode === 'numeric' ? 'digits' : 'characters',
    description !== undefined && `(${description})`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** @throws {DecodeError} */
export function issuerMetadata(value: unknown): Decoded {
  const metadata = reading('the metadata of a credential issuer', 'content', () =>
    ReceivedIssuerMetadata.parse(value),
  )
  const { credential_configurations_supported: offered, batch_credential_issuance: batch } = metadata
  const isEncrypted = metadata.credential_response_encryption
  return documentOf(
    'issuer-metadata',
    'metadata of an OpenID4VCI credential issuer',
    {
      issuer: metadata.credential_issuer,
      name: namesOf(metadata.display),
      credentials: Object.entries(offered).map(([id, { format, vct, credential_definition: definition }]) =>
        [id, format, vct ?? definition?.type.join(', ')].filter(Boolean).join(' · '),
      ),
      'authorization servers': metadata.authorization_servers,
      'credential endpoint': metadata.credential_endpoint,
      'nonce endpoint': metadata.nonce_endpoint,
      'batch size': batch?.batch_size,
      encryption: isEncrypted && (isEncrypted.encryption_required ? 'required' : 'possible'),
      'signed metadata': metadata['signed_metadata'] === undefined ? undefined : 'included, not decoded',
    },
    metadata,
  )
}

/** @throws {DecodeError} */
export function serverMetadata(value: unknown): Decoded {
  const metadata = reading('the metadata of an authorization server', 'content', () =>
    ReceivedServerMetadata.parse(value),
  )
  return documentOf(
    'server-metadata',
    'metadata of an OAuth authorization server',
    {
      issuer: metadata.issuer,
      'authorization endpoint': metadata.authorization_endpoint,
      'token endpoint': metadata.token_endpoint,
      'pushed requests': metadata.pushed_authorization_request_endpoint,
      keys: metadata.jwks_uri,
      grants: metadata.grant_types_supported,
      'client authentication': metadata.token_endpoint_auth_methods_supported,
      PKCE: metadata.code_challenge_methods_supported,
      DPoP: metadata.dpop_signing_alg_values_supported,
    },
    metadata,
  )
}

/** @throws {DecodeError} */
export function typeMetadata(value: unknown): Decoded {
  const metadata = reading('the type metadata of an SD-JWT VC', 'content', () => {
    // The agent refuses types that extend others. They can be shown.
    const { extends: _extends, ...own } = isJsonObject(value) ? value : {}
    return TypeMetadata.parse(own)
  })
  const { vct, name, description, claims = [] } = metadata
  return documentOf(
    'type-metadata',
    'type metadata of an SD-JWT VC',
    {
      vct,
      name,
      description,
      extends: isJsonObject(value) ? textOf(value['extends']) : undefined,
      claims: claims.map(({ path, mandatory, sd }) =>
        [describePath(path), mandatory === true && 'mandatory', sd !== undefined && `sd ${sd}`]
          .filter(Boolean)
          .join(' · '),
      ),
    },
    value as JsonObject,
  )
}

function namesOf(display: readonly { name?: string | undefined }[] | undefined): string | undefined {
  return display?.find(({ name }) => name !== undefined)?.name
}
