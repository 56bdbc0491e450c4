/**
 * Documents of OpenID4VCI in JSON: offers, metadata of issuers and authorization servers, and the metadata of
 * a credential type.
 */
import * as z from 'zod'
import { ifValid, parseForeign, validOnes } from '../../foundation/foreign.ts'
import { TypeMetadata } from '../../credentials/codecs/sd-jwt/type-metadata.ts'
import { describePath } from '../../credentials/dcql/match.ts'
import { preAuthorizedGrant, ReceivedOffer } from '../../exchange/oid4vci/holder/credential-offer.ts'
import {
  ReceivedIssuerMetadata,
  ReceivedServerMetadata,
} from '../../exchange/oid4vci/holder/issuer-metadata.ts'
import { type Decoded, decodedOf, type Facts, reading } from './decoded.ts'

/** Reads a document as a wallet does. @throws {DecodeError} */
function readingDocument<Type extends z.ZodType>(form: string, type: Type, value: unknown): z.output<Type> {
  return reading(form, 'content', () => parseForeign(type, value))
}

/** A document whose facts say the most important. */
function documentOf(kind: string, title: string, facts: Facts, document: unknown): Decoded {
  return decodedOf(kind, title, facts, { content: { document } })
}

/** @throws {DecodeError} */
export function credentialOffer(value: unknown): Decoded {
  const offer = readingDocument('an OpenID4VCI credential offer', ReceivedOffer, value)
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
    value,
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
  const metadata = readingDocument('the metadata of a credential issuer', ReceivedIssuerMetadata, value)
  const { credential_configurations_supported: offered, batch_credential_issuance: batch } = metadata
  const isEncrypted = metadata.credential_response_encryption
  return documentOf(
    'issuer-metadata',
    'metadata of an OpenID4VCI credential issuer',
    {
      issuer: metadata.credential_issuer,
      name: namesOf(metadata.display),
      credentials: Object.entries(offered).map(([id, configuration]) =>
        [id, ...describeConfiguration(configuration)].filter(Boolean).join(' · '),
      ),
      'authorization servers': metadata.authorization_servers,
      'credential endpoint': metadata.credential_endpoint,
      'nonce endpoint': metadata.nonce_endpoint,
      'batch size': batch?.batch_size,
      encryption: isEncrypted && (isEncrypted.encryption_required ? 'required' : 'possible'),
      'signed metadata': metadata['signed_metadata'] === undefined ? undefined : 'included, not decoded',
    },
    value,
  )
}

/** The format and the type, as far as they can be read. */
function describeConfiguration(configuration: unknown): (string | undefined)[] {
  const { format, vct, credential_definition: definition } = Configuration.parse(configuration) ?? {}
  return [format, vct ?? definition?.type.join(', ')]
}

const Configuration = ifValid(
  z.looseObject({
    format: ifValid(z.string()),
    vct: ifValid(z.string()),
    credential_definition: ifValid(z.looseObject({ type: validOnes(z.string()) })),
  }),
)

/** @throws {DecodeError} */
export function serverMetadata(value: unknown): Decoded {
  const metadata = readingDocument('the metadata of an authorization server', ReceivedServerMetadata, value)
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
    value,
  )
}

/** Types that extend others can be shown, although the agent does not use them. */
const ShownType = z.looseObject({
  vct: z.string(),
  name: ifValid(z.string()),
  description: ifValid(z.string()),
  extends: ifValid(z.string()),
  claims: ifValid(validOnes(TypeMetadata.shape.claims.unwrap().element)),
})

/** @throws {DecodeError} */
export function typeMetadata(value: unknown): Decoded {
  const metadata = readingDocument('the type metadata of an SD-JWT VC', ShownType, value)
  const { vct, name, description, claims = [] } = metadata
  return documentOf(
    'type-metadata',
    'type metadata of an SD-JWT VC',
    {
      vct,
      name,
      description,
      extends: metadata.extends,
      claims: claims.map(({ path, mandatory, sd }) =>
        [describePath(path), mandatory === true && 'mandatory', sd !== undefined && `sd ${sd}`]
          .filter(Boolean)
          .join(' · '),
      ),
    },
    value,
  )
}

function namesOf(display: readonly { name?: string | undefined }[] | undefined): string | undefined {
  return display?.find(({ name }) => name !== undefined)?.name
}
