/** Credential offers (VCI §4.1): a record of issuance, its session, and the URL that a wallet opens. */
import * as z from 'zod'
import { formatOfId, type OpenIdFormat, isTyped } from '../../definitions/format-names.ts'
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { type Created, createOnce } from '../engine/idempotency.ts'
import { begin } from '../engine/record.ts'
import { expiresIn } from '../protocols/model.ts'
import { type CredentialRecord, issueCredential } from '../issuance/model.ts'
import { Claims } from '../issuance/offers.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { optional } from '../../wallet/model.ts'
import { newShortLink } from '../../wallet/short-links.ts'
import { checkOffered } from '../issuance/sign.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { ConfigurationId } from './configuration-members.ts'
import { requireConfiguration, type ConfigurationRow } from './configurations.ts'
import { toIssuedType } from './credential-types.ts'
import { useType } from './type-documents.ts'
import { documentOf } from './documents.ts'
import { grants } from '../issuance/openid4vci.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'
import { readReply, toReply, type OpenIdCredentialOffer } from './offer-object.ts'
import { insertSession, newIssuerState, sealSecrets, type SessionSecrets } from './session.ts'
import { maxGuesses, newTxCode, TxCode } from './tx-code.ts'

export const CreateOpenIdCredentialOffer = z
  .object({
    credentialConfigurationId: ConfigurationId,
    issuingDID: optional(z.string()).describe(
      'The issuer’s DID, with an assertionMethod key. Default: that of the configuration. Not for a configuration with an issuer certificate.',
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

/**
 * Offers a credential. A repeated request with the same idempotency key returns the first offer, until it is
 * redeemed.
 *
 * @throws {Problem} 404 without issuer or configuration; if DID or claims cannot be used; 409 if the first
 * offer was redeemed; like `createOnce`
 */
export async function createOffer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  body: CreateOpenIdCredentialOffer,
  key?: string,
): Promise<OpenIdCredentialOffer> {
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  let reply: OpenIdCredentialOffer | undefined
  const request = { key, body: { issuerId, ...body } }
  const record = await createOnce(wallet, issueCredential, request, async (created) => {
    const begun = await beginOffer({ db, wallet }, issuer, body, created)
    reply = begun.reply
    return begun.record
  })
  return reply ?? readReply(wallet, issuer, record)
}

/** Stores a new offer. @throws {Problem} as `createOffer` */
export async function beginOffer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuer: IssuerRow,
  body: CreateOpenIdCredentialOffer,
  { id, ...created }: Created,
): Promise<{ record: CredentialRecord; reply: OpenIdCredentialOffer }> {
  const configuration = await requireConfiguration(db, issuer.id, body.credentialConfigurationId)
  const data = issueCredential.model.parse({ ...(await prepare(wallet, configuration, body)), ...created })
  const { authorizationServer, ...secrets } = newGrant(issuer, body)
  // The id of a short link, so that the QR code fits a terminal of 80×24.
  const shortId = body.byReference === true ? newShortLink(wallet).shortId : undefined
  const record = await wallet.transaction(async (tx) => {
    const initial = { id, thid: randomId(), data, ...(shortId !== undefined && { shortId }) }
    const begun = await begin(tx, issueCredential, 'Issuer', offerTrigger, initial)
    await insertSession(tx, {
      record_id: id,
      issuer_id: issuer.id,
      configuration_id: configuration.id,
      authorization_server: authorizationServer,
      offer_digest: null,
      state_digest: digestIf(secrets.issuerState),
      code_digest: digestIf(secrets.code),
      authorized: null,
      sealed: sealSecrets(wallet, id, secrets),
      guesses: maxGuesses,
      token_digest: null,
      token_jkt: null,
      token_expires_at: null,
    })
    return begun
  })
  return { record, reply: toReply(wallet, issuer, record, { shortId, secrets }) }
}

/** The fields of an offer's record. */
async function prepare(wallet: Wallet, configuration: ConfigurationRow, body: CreateOpenIdCredentialOffer) {
  const { claims, validityPeriod } = body
  const format = configuration.format as OpenIdFormat
  const offered = {
    credentialFormat: formatOfId(format),
    claims,
    ...signerOf(configuration, body),
    validityPeriod,
    automaticIssuance: body.automaticIssuance ?? true,
    schemaIds: [configuration.schema_id],
  }
  const described =
    documentOf(configuration) ??
    (isTyped(format) ? toIssuedType(wallet.env.urls.rest, configuration) : undefined)
  await checkOffered(wallet, { ...offered, type: described })
  const type = described && 'metadata' in described ? await useType(wallet, configuration) : described
  const seconds = body.expiresIn ?? wallet.env.config.ISSUANCE_INVITATION_EXPIRY
  return {
    ...offered,
    openid4vci: {
      issuerId: configuration.issuer_id,
      configurationId: configuration.id,
      expiresTime: Math.floor(Date.now() / 1_000) + seconds,
      ...(type && { type }),
    },
  }
}

/** The DID or the certificate that signs. @throws {Problem} 400 for both or neither */
function signerOf(
  { id, certificate_id: certificate, issuing_did: usual }: ConfigurationRow,
  {
    issuingDID = usual ?? undefined,
    issuingKid,
  }: Pick<CreateOpenIdCredentialOffer, 'issuingDID' | 'issuingKid'>,
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

/**
 * The secrets of a new offer, and the external server that it is for.
 *
 * @throws {Problem} 400 for a transaction code that nobody would ask for
 */
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
