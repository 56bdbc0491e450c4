/** Credential offers (VCI §4.1): records of issuance, their grant, and the URL that a wallet opens. */
import { formatOfId, type OpenIdFormat } from '../../definitions/format-names.ts'
import { newId, randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { type Created, createOnce } from '../engine/idempotency.ts'
import { begin } from '../engine/record.ts'
import { type CredentialData, type CredentialRecord, issueCredential } from '../issuance/model.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { newShortLink } from '../../wallet/short-links.ts'
import { checkOffered } from '../issuance/sign.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { checkOrigins, ofPart, originsOf, valueAt } from './claims-origins.ts'
import { newEnd } from './delivered-link.ts'
import { checkDelivery, requestDelivery, wordsOf } from './delivery.ts'
import { sourceOf } from './claims-source.ts'
import { accessOf } from './configuration-access.ts'
import { requireConfiguration, type ConfigurationRow } from './configurations.ts'
import { describeType, useType } from './type-documents.ts'
import { grants } from '../issuance/openid4vci.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'
import type { CreateOpenIdCredentialOffer, OfferedCredential } from './offer-members.ts'
import { readReply, toReply, type OpenIdCredentialOffer } from './offer-object.ts'
import { type GrantSecrets, insertGrant, noRenewal, newIssuerState, sealSecrets } from './grant.ts'
import type { PresentationSettings } from './presentation/settings.ts'
import { maxGuesses, newTxCode } from './tx-code.ts'

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
  const credentials = await configured(db, issuer, body)
  const { authorizationServer, ...made } = newGrant(
    issuer,
    body,
    credentials.flatMap(({ presentation }) => presentation ?? []),
  )
  const secrets = { ...made, ...(body.deliver && { endsMs: newEnd() }) }
  const isMatched = credentials.some(({ presentation }) => presentation?.match)
  checkDelivery(issuer, body, { ...secrets, isMatched })
  // A log-in may have the claims that the offer does not have.
  const hasLogIn = issuer.log_in !== null && secrets.issuerState !== undefined
  const offered: { id: string; data: CredentialData }[] = []
  for (const [index, credential] of credentials.entries()) {
    const fields = await prepare(wallet, credential, { expiresTime, hasLogIn })
    const data = issueCredential.model.parse({ ...fields, ...(index === 0 && created) })
    offered.push({ id: index === 0 ? id : newId(), data })
  }
  // The id of a short link, so that the QR code fits a terminal of 80×24.
  const shortId = body.byReference === true ? newShortLink(wallet).shortId : undefined
  const thid = randomId()
  const { deliver } = body
  const words =
    deliver &&
    (await wordsOf(
      { db, wallet },
      issuer,
      offered.map(({ data }) => data),
    ))
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
      presented: null,
      ...noRenewal,
    })
    if (!deliver || !words) return begun
    const [first, ...others] = begun
    const requested = { issuer, record: first!, deliver, secrets, words }
    return [await requestDelivery(tx, wallet, requested), ...others]
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

type Offered = {
  terms: OfferedCredential
  configuration: ConfigurationRow
  presentation: PresentationSettings | undefined
}

/** The credentials of a body with their configurations. @throws {Problem} 404 */
async function configured(
  db: AgentDb,
  issuer: IssuerRow,
  body: CreateOpenIdCredentialOffer,
): Promise<Offered[]> {
  const all: Offered[] = []
  for (const terms of credentialsOf(body)) {
    const configuration = await requireConfiguration(db, issuer.id, terms.credentialConfigurationId)
    all.push({ terms, configuration, presentation: accessOf(configuration).presentation })
  }
  return all
}

/** The fields of the record of an offered credential. */
async function prepare(
  wallet: Wallet,
  { configuration, terms: body, presentation }: Offered,
  { expiresTime, hasLogIn }: { expiresTime: number; hasLogIn: boolean },
) {
  const isPartial = sourceOf(configuration) !== undefined
  const isPart = isPartial || hasLogIn || presentation !== undefined
  const { claims = isPart ? {} : undefined, validityPeriod, credentialIdentifier } = body
  if (!claims)
    throw new Problem(
      'BadRequest',
      `claims: Missing request parameter: claims. The configuration ${configuration.id} has no claims source.`,
    )
  checkOrigins(configuration, claims)
  for (const { offered } of presentation?.match ?? [])
    if (valueAt(claims, offered) === undefined)
      throw new Problem(
        'BadRequest',
        `claims.${offered.join('.')}: is missing, and the presentation of the person has to match it.`,
      )
  const format = configuration.format as OpenIdFormat
  const offered = {
    credentialFormat: formatOfId(format),
    claims: originsOf(configuration, { offered: claims }).known,
    ...signerOf(configuration, body),
    validityPeriod,
    automaticIssuance: body.automaticIssuance ?? true,
    schemaIds: [configuration.schema_id],
  }
  const described = describeType(wallet, configuration)
  await checkOffered(wallet, { ...offered, type: described }, isPart ? ofPart : undefined)
  const type = await useType(wallet, configuration, described)
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

/** The DID or the certificate that signs. @throws {Problem} 400 for both or neither */
function signerOf(
  { id, certificate_id: certificate, issuing_did: usual }: ConfigurationRow,
  { issuingDID = usual ?? undefined, issuingKid }: Pick<OfferedCredential, 'issuingDID' | 'issuingKid'>,
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
 * @throws {Problem} 400 for a transaction code that nobody would ask for, and for a way without the
 * presentation that comes before
 */
function newGrant(
  issuer: IssuerRow,
  {
    grant,
    deliver,
    txCode: wanted = deliver?.code === undefined ? undefined : true,
    expectedIdentity,
  }: Pick<CreateOpenIdCredentialOffer, 'grant' | 'txCode' | 'expectedIdentity' | 'deliver'>,
  presentations: readonly PresentationSettings[],
): GrantSecrets & { authorizationServer: string | null } {
  const external = issuer.authorization_server
  const isPresented = presentations.length > 0
  const usual = external === null && issuer.log_in === null && !isPresented ? grants[0] : grants[1]
  const isPreAuthorized = (grant ?? usual) === 'pre-authorized_code'
  if (isPresented && (isPreAuthorized || external !== null))
    throw new Problem(
      'BadRequest',
      isPreAuthorized
        ? 'grant: the configuration requires a presentation, and nobody is asked for one with pre-authorized_code. Use authorization_code.'
        : 'credentialConfigurationId: the configuration requires a presentation, and the external authorization server asks for none.',
    )
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
  // Who is known by a log-in or a presentation needs no transaction code.
  const isKnown = expectedIdentity !== undefined || presentations.some(({ match }) => match)
  const txCode = newTxCode(wanted ?? (external === null && !isKnown))
  const expected = expectedIdentity && { expectedIdentity }
  return { issuerState: newIssuerState(issuer.id), ...txCode, ...expected, authorizationServer: external }
}

const digestIf = (secret: string | undefined) => (secret === undefined ? null : digestOf(secret))

const offerTrigger = 'POST /oid4vci/issuers/{issuerId}/credential-offers'
