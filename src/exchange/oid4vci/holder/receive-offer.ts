/**
 * Receives the offer of an issuer: reads the metadata, checks that this wallet can accept it, and stores it
 * as a record.
 */
import * as z from 'zod'
import { oneLine } from '../../../foundation/foreign.ts'
import type { CredentialRecord } from '../../issuance/model.ts'
import { grants, type StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import { Problem } from '../../../foundation/problem.ts'
import { optional, Uuid } from '../../../wallet/model.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { preAuthorizedGrant } from '../../../foundation/oauth/parameters.ts'
import { type Caller, requireSafe } from './caller.ts'
import type { GrantType } from './discovery.ts'
import { type ReceivedIssuerMetadata, typesOf } from './issuer-metadata.ts'
import type { ReceivedOffer } from './credential-offer.ts'
import { lookOf } from './look.ts'
import { invalidOffer, longestOffer, readOffer } from './offer.ts'
import type { Secrets } from './secrets.ts'
import { storeOffer } from './store-offer.ts'
import { copiesOf, maxCopies, proofOf, requireAttestation } from './support.ts'
import { readTerms, type Supported, supportedIn } from './terms.ts'

/** The most claims that a record keeps of the issuer's description. */
const maxClaims = 200

/** The most credentials of an offer that are received together. */
const maxCredentials = 10

/** The client id of a wallet without registration. */
const defaultClientId = 'identity-agent'

export const ReceiveOpenId4VciOffer = z
  .object({
    credentialOffer: optional(z.string().min(1).max(longestOffer)).describe(
      'The offer: a URL with `credential_offer` or `credential_offer_uri`, the URL of an offer, or its JSON.',
    ),
    credentialIssuer: optional(z.url().max(2_000)).describe(
      'Without an offer: the Credential Issuer Identifier, a URL. Name the credentials.',
    ),
    credentialConfigurationId: optional(z.string()).describe('The only credential of the offer to receive.'),
    credentialConfigurationIds: optional(z.array(z.string()).min(1).max(maxCredentials)).describe(
      'Which credentials of the offer to receive. Default: all that this wallet supports.',
    ),
    grant: optional(z.enum(grants)).describe('Default: `pre-authorized_code` if the offer has it.'),
    clientId: optional(z.string().min(1).max(500)).describe(
      `The client id of this wallet at the authorization server. Default: ${defaultClientId}.`,
    ),
    copies: optional(z.int().min(1).max(maxCopies)).describe(
      'How many copies of the credential to ask for, each bound to a key of its own, so that verifiers cannot link presentations. Default: 1. At most as many as the issuer has in its `batch_size`.',
    ),
    attestationCertificateId: optional(Uuid).describe(
      'The issuer certificate of this wallet that signs wallet attestations and key attestations. Required if the issuer requires any; it has to trust the root of the certificate.',
    ),
  })
  .superRefine(({ credentialOffer, credentialIssuer, ...given }, context) => {
    const refuse = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message })
    if (credentialOffer === undefined && credentialIssuer === undefined)
      refuse('credentialOffer', 'Missing request parameter: credentialOffer, or credentialIssuer')
    if (credentialOffer !== undefined && credentialIssuer !== undefined)
      refuse('credentialIssuer', 'excludes credentialOffer, which names its issuer')
    const isNamed = (given.credentialConfigurationId ?? given.credentialConfigurationIds) !== undefined
    if (credentialIssuer !== undefined && !isNamed)
      refuse('credentialConfigurationIds', 'is missing: without an offer, name the credentials')
  })
  .meta({
    id: 'ReceiveOpenId4VciOfferRequest',
    examples: [{ credentialOffer: 'https://issuer.example/o/1' }],
  })
export type ReceiveOpenId4VciOffer = z.output<typeof ReceiveOpenId4VciOffer>

/**
 * Receives an offer. Each credential gets a record, all in one thread, and the first is returned. A second
 * call with the same offer returns the same record, until it has ended.
 *
 * @throws {Problem} `InvalidCredentialOffer`, `InvalidIssuerMetadata`, `IssuerRefused`; 400 naming a member
 * of the request; 503 if the issuer
 *   does not answer
 */
export async function receiveOffer(wallet: Wallet, given: ReceiveOpenId4VciOffer): Promise<CredentialRecord> {
  const caller: Caller = { wallet, calls: [] }
  const offer = await offerOf(caller, given)
  const grant = chooseGrant(offer, given.grant)
  const named = offer.grants?.[grant]?.authorization_server
  const { metadata, terms } = await readTerms(caller, offer.credential_issuer, grant, named)
  const chosen = chooseConfigurations(offer, metadata, given)
  const { attestsClient } = terms
  const common = {
    credentialIssuer: metadata.credential_issuer,
    issuerName: nameIn(metadata.display),
    grant: grant === preAuthorizedGrant ? 'pre-authorized_code' : 'authorization_code',
    ...(grant === preAuthorizedGrant && { txCode: txCodeOf(offer) }),
    ...terms,
    clientId: given.clientId ?? defaultClientId,
    attestationCertificateId: given.attestationCertificateId,
    calls: caller.calls,
  } as const
  const offers: Omit<StoredOpenId4VciOffer, 'sealed'>[] = []
  for (const [credentialConfigurationId, configuration] of chosen) {
    const { binding, proof } = proofOf(configuration)
    await requireAttestation(wallet, { proof, attestsClient }, given.attestationCertificateId)
    const copies = copiesOf(metadata, binding, given.copies)
    const described = describeConfiguration(configuration)
    const { scope } = configuration
    offers.push({ ...common, credentialConfigurationId, copies, ...described, binding, proof, scope })
  }
  return storeOffer(wallet, offers, secretsOf(offer, grant))
}

/**
 * The offer, or what stands for it if the wallet begins (VCI §3.4). An offer earns no trust, and its absence
 * costs none (VCI §13.5).
 */
async function offerOf(caller: Caller, given: ReceiveOpenId4VciOffer): Promise<ReceivedOffer> {
  const { credentialOffer, credentialIssuer, credentialConfigurationId: one } = given
  if (credentialOffer !== undefined) return readOffer(caller, credentialOffer)
  requireSafe(caller.wallet, credentialIssuer!)
  return {
    credential_issuer: credentialIssuer!,
    credential_configuration_ids: one === undefined ? given.credentialConfigurationIds! : [one],
  }
}

/**
 * VCI §4.1.1: an offer without grants leaves the choice to the metadata; the wallet then asks for
 * authorization.
 */
function chooseGrant({ grants: offered }: ReceivedOffer, wanted: ReceiveOpenId4VciOffer['grant']): GrantType {
  const isPreAuthorized =
    wanted === undefined ? offered?.[preAuthorizedGrant] !== undefined : wanted === 'pre-authorized_code'
  const grant = isPreAuthorized ? preAuthorizedGrant : 'authorization_code'
  const isOffered = offered?.[grant] !== undefined
  const isFree = Object.values(offered ?? {}).every((each) => each === undefined)
  if (isOffered || (grant === 'authorization_code' && isFree)) return grant
  throw invalidOffer(`it does not have the grant ${grant}`)
}

/** The wanted configurations, or all of the offer that this wallet supports. */
function chooseConfigurations(
  { credential_configuration_ids: offered }: ReceivedOffer,
  metadata: ReceivedIssuerMetadata,
  { credentialConfigurationId: one, credentialConfigurationIds: several }: ReceiveOpenId4VciOffer,
): [string, Supported][] {
  if (one !== undefined && several)
    throw new Problem(
      'BadRequest',
      'credentialConfigurationId and credentialConfigurationIds exclude each other.',
    )
  const ids = [...new Set(several ?? (one === undefined ? offered : [one]))]
  const strange = ids.find((id) => !offered.includes(id))
  if (strange !== undefined)
    throw invalidOffer(
      `it is not for ${oneLine(strange)}, which ${one === undefined ? 'credentialConfigurationIds' : 'credentialConfigurationId'} names, but for ${offered.slice(0, 20).join(', ')}`,
    )
  if (ids.length > maxCredentials)
    throw invalidOffer(
      `it is for ${ids.length} credentials; name at most ${maxCredentials} of them in credentialConfigurationIds`,
    )
  const isNamed = (one ?? several) !== undefined
  const found: [string, Supported][] = []
  let problem: unknown
  for (const id of ids) {
    try {
      found.push([id, supportedIn(metadata, id)])
    } catch (error) {
      if (isNamed) throw error
      problem ??= error
    }
  }
  if (found.length === 0) throw problem
  return found
}

function describeConfiguration(configuration: Supported) {
  const { format, credential_metadata: about } = configuration
  const claims = (about?.claims ?? configuration.claims ?? []).slice(0, maxClaims)
  return {
    format,
    types: typesOf(configuration, format).map((type) => type.slice(0, 2_000)),
    credentialName: nameIn(about?.display ?? configuration.display),
    look: lookOf(configuration),
    claims: claims.map(({ path, display, mandatory }) => ({
      path: path.map((part) => (typeof part === 'string' ? part.slice(0, 200) : part)),
      name: nameIn(display),
      mandatory,
    })),
  }
}

/** The English name, or else the first one. */
function nameIn(
  display: { name?: string | undefined; locale?: string | undefined }[] | undefined,
): string | undefined {
  const named = display?.filter(({ name }) => name !== undefined)
  const name = (named?.find(({ locale }) => locale?.startsWith('en')) ?? named?.[0])?.name
  return name === undefined ? undefined : oneLine(name, 200)
}

function txCodeOf({ grants: offered }: ReceivedOffer): StoredOpenId4VciOffer['txCode'] {
  const code = offered?.[preAuthorizedGrant]?.tx_code
  if (!code) return undefined
  const { input_mode: inputMode = 'numeric', length, description } = code
  return { inputMode, length, description: description === undefined ? undefined : oneLine(description) }
}

function secretsOf({ grants: offered }: ReceivedOffer, grant: GrantType): Secrets {
  return grant === preAuthorizedGrant
    ? { preAuthorizedCode: offered?.[preAuthorizedGrant]?.['pre-authorized_code'] }
    : { issuerState: offered?.authorization_code?.issuer_state }
}
