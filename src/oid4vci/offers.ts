/** Credential offers (VCI §4.1): a record of issuance, its session, and the URL that a wallet opens. */
import * as z from 'zod'
import { isOver } from '../base/clock.ts'
import { newId, randomId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { findByShortId } from '../protocols/engine/find.ts'
import { begin } from '../protocols/engine/record.ts'
import { protocols } from '../protocols/index.ts'
import { expiresIn } from '../protocols/model.ts'
import { type CredentialRecord, issueCredential } from '../protocols/issue-credential/model.ts'
import { Claims } from '../protocols/issue-credential/offers.ts'
import type { AgentDb } from '../storage/database.ts'
import { optional } from '../wallet/model.ts'
import { newShortLink } from '../wallet/short-links.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { ConfigurationId, requireConfiguration, type ConfigurationRow } from './configurations.ts'
import { toIssuedType } from './credential-types.ts'
import { vciFormats, type VciFormatId } from './formats.ts'
import { getOwnIssuer, identifierOf, type IssuerRow } from './issuers.ts'
import { preAuthorizedGrant } from '../oauth/parameters.ts'
import { digestOf, newSecret } from '../oauth/secrets.ts'
import {
  getSession,
  insertSession,
  newIssuerState,
  openSecrets,
  sealSecrets,
  type SessionSecrets,
} from './session.ts'
import { mostGuesses, newTxCode, TxCode } from './tx-code.ts'

/** Grants of offers by their names here. */
const grants = ['pre-authorized_code', 'authorization_code'] as const

export const CreateOpenIdCredentialOffer = z
  .object({
    credentialConfigurationId: ConfigurationId,
    issuingDID: optional(z.string()).describe(
      'The issuer’s DID, with an assertionMethod key. Not for a configuration with an issuer certificate.',
    ),
    issuingKid: optional(z.string()).describe(
      'The id of the key that signs. Default: the first (extension).',
    ),
    claims: Claims,
    validityPeriod: optional(z.number().positive()).describe(
      'Seconds for which the credential is valid (extension).',
    ),
    automaticIssuance: optional(z.boolean()).describe(
      'False: a request of the wallet waits until the issuer approves it (extension).',
    ),
    grant: optional(z.enum(grants)).describe(
      'How the wallet gets access: by a code in the offer, or at the authorization server, where the holder consents. Default: authorization_code for an issuer with an external authorization server, else pre-authorized_code (extension).',
    ),
    txCode: optional(z.union([z.boolean(), TxCode])).describe(
      'Require a transaction code, which the reply contains. Give it to the holder on another channel. Default: only for the grant authorization_code of this agent (extension).',
    ),
    byReference: optional(z.boolean()).describe(
      'Return the URL of the offer instead of its content, for smaller QR codes (extension).',
    ),
    expiresIn: expiresIn('ISSUANCE_INVITATION_EXPIRY'),
  })
  .meta({ id: 'CredentialOfferRequest' })
export type CreateOpenIdCredentialOffer = z.output<typeof CreateOpenIdCredentialOffer>

export const OpenIdCredentialOffer = z
  .object({
    credentialOffer: z.string().describe('The URL for the wallet: `openid-credential-offer://?…`.'),
    recordId: z.guid().describe('The record of the issuance (extension).'),
    expiresAt: z.iso.datetime().describe('The end of the offer (extension).'),
    txCode: z.string().optional().describe('The transaction code. It is not returned again (extension).'),
  })
  .meta({ id: 'CredentialOfferResponse' })
export type OpenIdCredentialOffer = z.infer<typeof OpenIdCredentialOffer>

/** The Credential Offer object. */
export const OfferObject = z
  .object({
    credential_issuer: z.string(),
    credential_configuration_ids: z.array(z.string()),
    grants: z.record(z.string(), z.looseObject({})),
  })
  .meta({ id: 'CredentialOffer' })
export type OfferObject = z.infer<typeof OfferObject>

/** @throws {Problem} 404 without issuer or configuration; if DID or claims cannot be used */
export async function createOffer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  body: CreateOpenIdCredentialOffer,
): Promise<OpenIdCredentialOffer> {
  const base = wallet.env.urls.rest
  const { credentialConfigurationId: configurationId, claims, validityPeriod } = body
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  const configuration = await requireConfiguration(db, issuerId, configurationId)
  const { recordFormat, issuance, isTyped } = vciFormats[configuration.format as VciFormatId]
  const offered = {
    credentialFormat: recordFormat,
    claims,
    ...signerOf(configuration, body),
    validityPeriod,
    automaticIssuance: body.automaticIssuance ?? true,
  }
  const { terms } = await issuance.offer(wallet, {
    ...offered,
    schemaIds: [configuration.schema_id],
  })
  const seconds = body.expiresIn ?? wallet.env.config.ISSUANCE_INVITATION_EXPIRY
  const expiresTime = Math.floor(Date.now() / 1_000) + seconds
  const data = issueCredential.model.parse({
    ...terms,
    openid4vci: {
      issuerId,
      configurationId,
      expiresTime,
      ...(isTyped && { type: toIssuedType(base, configuration) }),
    },
  })
  const recordId = newId()
  const { authorizationServer, ...secrets } = newGrant(issuer, body)
  const link = body.byReference === true ? newOfferLink(wallet) : undefined
  await wallet.transaction(async (tx) => {
    const initial = { id: recordId, thid: randomId(), data, ...(link && { shortId: link.shortId }) }
    await begin(tx, issueCredential, 'Issuer', offerTrigger, initial)
    await insertSession(tx, {
      record_id: recordId,
      issuer_id: issuerId,
      configuration_id: configurationId,
      authorization_server: authorizationServer,
      offer_digest: null,
      state_digest: digestIf(secrets.issuerState),
      code_digest: digestIf(secrets.code),
      authorized: null,
      sealed: sealSecrets(wallet, recordId, secrets),
      guesses: mostGuesses,
      token_digest: null,
      token_jkt: null,
      token_expires_at: null,
    })
  })
  const parameter = link
    ? { credential_offer_uri: link.url }
    : { credential_offer: JSON.stringify(toOffer(base, issuer, configurationId, secrets)) }
  return {
    credentialOffer: `openid-credential-offer://?${encodeParameter(parameter)}`,
    recordId,
    expiresAt: new Date(expiresTime * 1_000).toISOString(),
    ...(secrets.txCode !== undefined && { txCode: secrets.txCode }),
  }
}

/** The DID or the certificate that signs. @throws {Problem} 400 for both or neither */
function signerOf(
  { id, certificate_id: certificate }: ConfigurationRow,
  { issuingDID, issuingKid }: Pick<CreateOpenIdCredentialOffer, 'issuingDID' | 'issuingKid'>,
) {
  if (certificate === null && issuingDID === undefined)
    throw new Problem('BadRequest', 'issuingDID: Missing request parameter: issuingDID')
  if (certificate === null) return { issuingDID, issuingKid }
  if (issuingDID !== undefined || issuingKid !== undefined)
    throw new Problem(
      'BadRequest',
      `${issuingDID === undefined ? 'issuingKid' : 'issuingDID'}: the issuer certificate ${certificate} signs credentials of the configuration ${id}. Leave it out.`,
    )
  return { issuerCertificateId: certificate }
}

/** The secrets of a new offer, and the external server that it is for. @throws {Problem} 400 for a transaction code that nobody would ask for */
function newGrant(
  issuer: IssuerRow,
  { grant, txCode: wanted }: Pick<CreateOpenIdCredentialOffer, 'grant' | 'txCode'>,
): SessionSecrets & { authorizationServer: string | null } {
  const external = issuer.authorization_server
  if ((grant ?? (external === null ? grants[0] : grants[1])) === 'pre-authorized_code')
    return { code: newSecret(), ...newTxCode(wanted ?? false), authorizationServer: null }
  if (external !== null && wanted !== undefined && wanted !== false)
    throw new Problem(
      'BadRequest',
      'txCode: the external authorization server identifies the holder itself. Leave the code out, or use the grant pre-authorized_code.',
    )
  const txCode = newTxCode(wanted ?? external === null)
  return { issuerState: newIssuerState(issuer.id), ...txCode, authorizationServer: external }
}

const digestIf = (secret: string | undefined) => (secret === undefined ? null : digestOf(secret))

const offerTrigger = 'POST /oid4vci/issuers/{issuerId}/credential-offers'

/** A new `credential_offer_uri`. Its id is that of a short link, so that the QR code fits a terminal of 80×24. */
function newOfferLink(wallet: Wallet): { shortId: string; url: string } {
  const { shortId } = newShortLink(wallet)
  return { shortId, url: `${wallet.env.urls.rest}/o/${shortId}` }
}

/** The offer behind `credential_offer_uri`, while its code can be redeemed. @throws {Problem} 404 */
export async function readOffer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  shortId: string,
): Promise<OfferObject> {
  const record = (await findByShortId(wallet.db, protocols, shortId)) as CredentialRecord | undefined
  const isOpen = record?.state === 'OfferCreated' && !isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)
  const session = isOpen && (await getSession(wallet.db, record.id))
  const secrets = session && openSecrets(wallet, session)
  if (!secrets) throw offerNotFound()
  const issuer = await getOwnIssuer(db, wallet.id, session.issuer_id)
  return toOffer(wallet.env.urls.rest, issuer, session.configuration_id, secrets)
}

export function offerNotFound(): Problem {
  return new Problem(
    'NotFound',
    'There is no such credential offer, or it was redeemed or has expired. Ask for a new one.',
  )
}

function toOffer(
  base: string,
  issuer: IssuerRow,
  configurationId: string,
  { code, issuerState, txCodeHint }: SessionSecrets,
): OfferObject {
  const identifier = identifierOf(base, issuer.id)
  const grant = {
    ...(code === undefined ? { issuer_state: issuerState } : { 'pre-authorized_code': code }),
    // A transaction code of the other grant is asked for by the page of the authorization server.
    ...(code !== undefined && txCodeHint && { tx_code: txCodeHint }),
    // VCI §4.1.1: only if the metadata has several servers.
    ...(issuer.authorization_server !== null && {
      authorization_server: code === undefined ? issuer.authorization_server : identifier,
    }),
  }
  return {
    credential_issuer: identifier,
    credential_configuration_ids: [configurationId],
    grants: { [code === undefined ? 'authorization_code' : preAuthorizedGrant]: grant },
  }
}

/** Percent-encoding, since wallets decode `+` differently. */
function encodeParameter(parameter: Record<string, string>): string {
  return Object.entries(parameter)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}
