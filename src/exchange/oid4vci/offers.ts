/** Credential offers (VCI §4.1): records of issuance, their grant, and the URL that a wallet opens. */
import * as z from 'zod'
import { formatOfId, type OpenIdFormat, isTyped } from '../../definitions/format-names.ts'
import { newId, randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { type Created, createOnce } from '../engine/idempotency.ts'
import { begin } from '../engine/record.ts'
import { expiresIn } from '../protocols/model.ts'
import { type CredentialData, type CredentialRecord, issueCredential } from '../issuance/model.ts'
import { Claims } from '../issuance/offers.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { optional } from '../../wallet/model.ts'
import { newShortLink } from '../../wallet/short-links.ts'
import { checkOffered } from '../issuance/sign.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { ofPart } from './claims-origins.ts'
import { offerSignerOf } from './choices.ts'
import { sourceOf } from './claims-source.ts'
import { ConfigurationId } from './configuration-members.ts'
import { requireConfiguration, type ConfigurationRow } from './configurations.ts'
import { toIssuedType } from './credential-types.ts'
import { documentOf } from './documents.ts'
import { grants } from '../issuance/openid4vci.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'
import { readReply, toReply, type OpenIdCredentialOffer } from './offer-object.ts'
import { ExpectedIdentity, type GrantSecrets, insertGrant, newIssuerState, sealSecrets } from './grant.ts'
import { maxGuesses, newTxCode, TxCode } from './tx-code.ts'

/** The terms of one credential. */
const Terms = {
  issuingDID: optional(z.string()).describe(
    'The issuer’s DID, with an assertionMethod key. Default: that of the configuration. Not for a configuration with an issuer certificate.',
  ),
  issuingKid: optional(z.string()).describe('The id of the key that signs. Default: the first (extension).'),
  validityPeriod: optional(z.number().positive()).describe(
    'Seconds for which the credential is valid (extension).',
  ),
  automaticIssuance: optional(z.boolean()).describe(
    'False: a request of the wallet waits until the issuer approves it (extension).',
  ),
}

const OfferedCredential = z
  .object({
    credentialConfigurationId: ConfigurationId,
    claims: optional(Claims).describe('Required, unless the configuration has a claims source.'),
    ...Terms,
    credentialIdentifier: optional(
      z.string().regex(/^[\x21-\x7e]{1,200}$/, 'has no 1 to 200 visible ASCII characters'),
    ).describe('The name of the credential in requests of the wallet. Default: the id of its record.'),
  })
  .meta({ id: 'OfferedCredential' })
type OfferedCredential = z.output<typeof OfferedCredential>

/** The most credentials of an offer. */
const maxCredentials = 10

/** The body without the rule that it has one credential or several. */
export const OfferFields = z.object({
  credentialConfigurationId: optional(ConfigurationId).describe('Required without `credentials`.'),
  claims: optional(Claims).describe(
    'Required without `credentials`, unless the configuration has a claims source.',
  ),
  ...Terms,
  credentials: optional(z.array(OfferedCredential).min(1).max(maxCredentials)).describe(
    'The credentials of the offer, instead of one. Each has its own record; the wallet asks for them one after the other, and may take only some (extension).',
  ),
  grant: optional(z.enum(grants)).describe(
    'How the wallet gets access: by a code in the offer, or at the authorization server, where the holder consents. Default: authorization_code for an issuer with an external authorization server or a log-in, else pre-authorized_code (extension).',
  ),
  txCode: optional(z.union([z.boolean(), TxCode])).describe(
    'Require a transaction code, which the reply contains. Give it to the holder on another channel. Default: only for the grant authorization_code of this agent, without `expectedIdentity` (extension).',
  ),
  expectedIdentity: optional(
    ExpectedIdentity.refine(
      ({ sub, claims = {} }) => sub !== undefined || Object.keys(claims).length > 0,
      'has neither sub nor claims',
    ).meta({ id: 'ExpectedIdentity', examples: [{ claims: { email: 'alice@example.org' } }] }),
  ).describe(
    'Who has to log in, at the provider of the issuer (`logIn`): the subject, or claims of it. Others get `access_denied`, and the offer stays open (extension).',
  ),
  byReference: optional(z.boolean()).describe(
    'Return the URL of the offer instead of its content, for smaller QR codes (extension).',
  ),
  expiresIn: expiresIn('ISSUANCE_INVITATION_EXPIRY'),
})

export const CreateOpenIdCredentialOffer = OfferFields.superRefine(requireCredentials).meta({
  id: 'CredentialOfferRequest',
  examples: [{ credentialConfigurationId: 'Person', claims: { name: 'Alice' } }],
})
export type CreateOpenIdCredentialOffer = z.output<typeof OfferFields>

/** One credential with its members in the body, or several in `credentials`. */
function requireCredentials(body: CreateOpenIdCredentialOffer, context: z.RefinementCtx): void {
  const { credentials } = body
  const refuse = (member: string, message: string) =>
    context.addIssue({ code: 'custom', path: [member], message })
  if (credentials === undefined) {
    if (body.credentialConfigurationId === undefined)
      refuse('credentialConfigurationId', 'Missing request parameter: credentialConfigurationId')
    return
  }
  for (const member of ['credentialConfigurationId', 'claims', ...termNames] as const)
    if (body[member] !== undefined) refuse(member, 'belongs into each of the credentials')
  const identifiers = credentials.flatMap(({ credentialIdentifier: id }) => id ?? [])
  if (new Set(identifiers).size < identifiers.length)
    refuse('credentials', 'two have the same credentialIdentifier')
}

const termNames = Object.keys(Terms) as (keyof typeof Terms)[]

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

/** Stores a new offer. Returns its first record. @throws {Problem} as `createOffer` */
export async function beginOffer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuer: IssuerRow,
  body: CreateOpenIdCredentialOffer,
  { id, ...created }: Created,
): Promise<{ record: CredentialRecord; reply: OpenIdCredentialOffer }> {
  const seconds = body.expiresIn ?? wallet.env.config.ISSUANCE_INVITATION_EXPIRY
  const expiresTime = Math.floor(Date.now() / 1_000) + seconds
  const { authorizationServer, ...secrets } = newGrant(issuer, body)
  // A log-in may have the claims that the offer does not have.
  const hasLogIn = issuer.log_in !== null && secrets.issuerState !== undefined
  const offered: { id: string; data: CredentialData }[] = []
  for (const [index, terms] of credentialsOf(body).entries()) {
    const configuration = await requireConfiguration(db, issuer.id, terms.credentialConfigurationId)
    const fields = await prepare(wallet, configuration, terms, { expiresTime, hasLogIn })
    const data = issueCredential.model.parse({ ...fields, ...(index === 0 && created) })
    offered.push({ id: index === 0 ? id : newId(), data })
  }
  // The id of a short link, so that the QR code fits a terminal of 80×24.
  const shortId = body.byReference === true ? newShortLink(wallet).shortId : undefined
  const thid = randomId()
  const records = await wallet.transaction(async (tx) => {
    const begun: CredentialRecord[] = []
    for (const [place, each] of offered.entries()) {
      const initial = { ...each, thid, place, ...(place === 0 && shortId !== undefined && { shortId }) }
      begun.push(await begin(tx, issueCredential, 'Issuer', offerTrigger, initial))
    }
    await insertGrant(tx, {
      id: thid,
      issuer_id: issuer.id,
      records: JSON.stringify(begun.map((record) => record.id)),
      authorization_server: authorizationServer,
      state_digest: digestIf(secrets.issuerState),
      code_digest: digestIf(secrets.code),
      authorized: null,
      sealed: sealSecrets(wallet, id, secrets),
      guesses: maxGuesses,
      identity: null,
    })
    return begun
  })
  return { record: records[0]!, reply: toReply(wallet, issuer, records, { shortId, secrets }) }
}

/** The credentials of a body, which has one or several. */
function credentialsOf(body: CreateOpenIdCredentialOffer): OfferedCredential[] {
  const { credentials, credentialConfigurationId } = body
  if (credentials) return credentials
  if (credentialConfigurationId === undefined) throw new Error('the offer has no credential')
  return [{ ...body, credentialConfigurationId, credentialIdentifier: undefined }]
}

/** The fields of the record of an offered credential. */
async function prepare(
  wallet: Wallet,
  configuration: ConfigurationRow,
  body: OfferedCredential,
  { expiresTime, hasLogIn }: { expiresTime: number; hasLogIn: boolean },
) {
  const isPartial = sourceOf(configuration) !== undefined
  const isPart = isPartial || hasLogIn
  const { claims = isPart ? {} : undefined, validityPeriod, credentialIdentifier } = body
  if (!claims)
    throw new Problem(
      'BadRequest',
      `claims: Missing request parameter: claims. The configuration ${configuration.id} has no claims source.`,
    )
  const format = configuration.format as OpenIdFormat
  const offered = {
    credentialFormat: formatOfId(format),
    claims,
    ...offerSignerOf(configuration, body),
    validityPeriod,
    automaticIssuance: body.automaticIssuance ?? true,
    schemaIds: [configuration.schema_id],
  }
  const type =
    documentOf(configuration) ??
    (isTyped(format) ? toIssuedType(wallet.env.urls.rest, configuration) : undefined)
  await checkOffered(wallet, { ...offered, type }, isPart ? ofPart : undefined)
  return {
    ...offered,
    openid4vci: {
      issuerId: configuration.issuer_id,
      configurationId: configuration.id,
      expiresTime,
      ...(credentialIdentifier !== undefined && { credentialIdentifier }),
      ...(isPartial && { isPartial }),
      ...(type && { type }),
    },
  }
}

/**
 * The secrets of a new offer, and the external server that it is for.
 *
 * @throws {Problem} 400 for a transaction code that nobody would ask for
 */
function newGrant(
  issuer: IssuerRow,
  {
    grant,
    txCode: wanted,
    expectedIdentity,
  }: Pick<CreateOpenIdCredentialOffer, 'grant' | 'txCode' | 'expectedIdentity'>,
): GrantSecrets & { authorizationServer: string | null } {
  const external = issuer.authorization_server
  const usual = external === null && issuer.log_in === null ? grants[0] : grants[1]
  const isPreAuthorized = (grant ?? usual) === 'pre-authorized_code'
  if (expectedIdentity && (issuer.log_in === null || isPreAuthorized))
    throw new Problem(
      'BadRequest',
      issuer.log_in === null
        ? 'expectedIdentity: the issuer has no OpenID provider where people log in. Set one: agent issuer update --log-in'
        : 'expectedIdentity: nobody logs in for the grant pre-authorized_code. Use authorization_code.',
    )
  if (isPreAuthorized) return { code: newSecret(), ...newTxCode(wanted ?? false), authorizationServer: null }
  if (external !== null && wanted !== undefined && wanted !== false)
    throw new Problem(
      'BadRequest',
      'txCode: the external authorization server identifies the holder itself. Leave the code out, or use the grant pre-authorized_code.',
    )
  const txCode = newTxCode(wanted ?? (external === null && !expectedIdentity))
  const expected = expectedIdentity && { expectedIdentity }
  return { issuerState: newIssuerState(issuer.id), ...txCode, ...expected, authorizationServer: external }
}

const digestIf = (secret: string | undefined) => (secret === undefined ? null : digestOf(secret))

const offerTrigger = 'POST /oid4vci/issuers/{issuerId}/credential-offers'
