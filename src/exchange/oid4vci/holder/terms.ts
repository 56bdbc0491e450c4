/**
 * What the requests of a flow need to know of an issuer and its authorization server: read when an offer is
 * received, and again for each renewal, since keys and endpoints may change in the months between.
 */
import { oneLine } from '../../../foundation/foreign.ts'
import { type OpenIdFormat, openIdFormats } from '../../../definitions/format-names.ts'
import { preAuthorizedGrant } from '../../../foundation/oauth/parameters.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import { updateData } from '../../engine/record.ts'
import { type Caller, invalidMetadata, requireSafe } from './caller.ts'
import { findConfiguration, findIssuerMetadata, findServerMetadata, type GrantType } from './discovery.ts'
import { dpopAlgorithm } from './dpop-proof.ts'
import { chooseEncryption } from './encryption.ts'
import type {
  ReceivedConfiguration,
  ReceivedIssuerMetadata,
  ReceivedServerMetadata,
} from './issuer-metadata.ts'
import { unsupportedOffer } from './offer.ts'
import { getOffer, withCalls } from './record.ts'
import { mostCopies, proofOf, requireAttestation, requiresWalletAttestation } from './support.ts'

/** @throws {Problem} `InvalidIssuerMetadata`, `InvalidCredentialOffer`; 503 if the issuer does not answer */
export async function readTerms(caller: Caller, issuer: string, grant: GrantType, named: string | undefined) {
  const metadata = await findIssuerMetadata(caller, issuer)
  const server = await findServerMetadata(caller, metadata, grant, named)
  const endpoints = endpointsOf(metadata, server, grant)
  const { deferred: _, notification: __, ...used } = endpoints
  for (const each of Object.values(used)) if (each !== undefined) requireSafe(caller.wallet, each)
  const terms = {
    authorizationServer: server.issuer,
    endpoints,
    isNamed: server['pre-authorized_grant_anonymous_access_supported'] !== true,
    attestsClient: requiresWalletAttestation(server),
    encryption: chooseEncryption(metadata),
    usesDpop: server.dpop_signing_alg_values_supported?.includes(dpopAlgorithm) ?? false,
    namesIssuer: server['authorization_response_iss_parameter_supported'] === true,
    listsServers: metadata.authorization_servers !== undefined,
  }
  return { metadata, terms }
}

/**
 * Stores the terms of the issuer as they are at a renewal, with at most as many copies as it issues by now.
 *
 * @throws {Problem} as `readTerms`; also for another format, and for a credential that was bound to a key and
 * is not any more
 */
export async function readTermsAgain(caller: Caller, recordId: string): Promise<void> {
  const { receivedOffer: known } = await getOffer(caller.wallet.db, recordId)
  const grant = known.grant === 'pre-authorized_code' ? preAuthorizedGrant : known.grant
  const { credentialIssuer: issuer, authorizationServer, credentialConfigurationId: id } = known
  const { metadata, terms } = await readTerms(caller, issuer, grant, authorizationServer)
  const configuration = supportedIn(metadata, id)
  if (configuration.format !== known.format)
    throw invalidMetadata(issuer, `the format of ${oneLine(id)} is not ${known.format} any more`)
  const { binding, proof } = proofOf(configuration)
  if ((binding === undefined) !== (known.binding === undefined))
    throw invalidMetadata(issuer, `${oneLine(id)} was ${known.binding ? '' : 'not '}bound to a key until now`)
  await requireAttestation(caller.wallet, { proof, ...terms }, known.attestationCertificateId)
  await caller.wallet.transaction(async (tx) => {
    const record = await getOffer(tx, recordId)
    const { renewing } = record.receivedOffer
    if (!renewing) return
    const copies = Math.min(renewing.copies, mostCopies(metadata, binding))
    const change = { ...terms, binding, proof, renewing: { ...renewing, copies } }
    await updateData(tx, record, withCalls(record, caller, change))
  })
}

export type Supported = ReceivedConfiguration & { format: OpenIdFormat }

/** @throws {Problem} for a configuration that the issuer does not have, or of another format */
export function supportedIn(metadata: ReceivedIssuerMetadata, id: string): Supported {
  const configuration = findConfiguration(metadata, id)
  if (!configuration)
    throw invalidMetadata(
      metadata.credential_issuer,
      `they have no configuration ${oneLine(id)}, which is offered`,
    )
  const format = openIdFormats.find((each) => each === configuration.format)
  if (format === undefined)
    throw unsupportedOffer(
      `the format of ${oneLine(id)} is ${oneLine(configuration.format)}, and this wallet receives ${openIdFormats.join(' and ')}`,
    )
  return { ...configuration, format }
}

function endpointsOf(
  metadata: ReceivedIssuerMetadata,
  server: ReceivedServerMetadata,
  grant: GrantType,
): StoredOpenId4VciOffer['endpoints'] {
  const { token_endpoint: token, authorization_endpoint: authorization } = server
  if (token === undefined) throw invalidMetadata(server.issuer, 'token_endpoint is missing')
  if (grant === 'authorization_code' && authorization === undefined)
    throw invalidMetadata(server.issuer, 'authorization_endpoint is missing, or is not a URL')
  return {
    credential: metadata.credential_endpoint,
    token,
    nonce: metadata.nonce_endpoint,
    deferred: metadata.deferred_credential_endpoint,
    notification: metadata.notification_endpoint,
    challenge: server.challenge_endpoint,
    ...(grant === 'authorization_code' && {
      authorization,
      pushedAuthorization: server.pushed_authorization_request_endpoint,
    }),
  }
}
