/** What the consent page shows a person of an authorization request. */
import { chooseByLocale } from '../../foundation/locale.ts'
import { getCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialData } from '../issuance/model.ts'
import { type CheckedRequest, getOpenRecords, requireGrant } from './authorization-request.ts'
import { withoutOffer } from './begun-by-wallet.ts'
import { findCard } from './card.ts'
import { claimsOf } from './claims.ts'
import { originsOf } from './claims-origins.ts'
import { sourceOf } from './claims-source.ts'
import { settingsOf } from './configuration-settings.ts'
import { findConfiguration } from './configurations.ts'
import { credentialDisplayOf, issuerDisplayOf } from './display.ts'
import { openSecrets } from './grant.ts'
import type { IssuerRow } from './issuers.ts'
import { nameOf } from './log-in/identity.ts'
import type { Person } from './person-claims.ts'
import { neededFor, presentedFor } from './presentation/needed.ts'
import { sealRequest } from './sealed-request.ts'

/** The content of the consent page. */
export type Consent = {
  /** The field `request` of the form. */
  sealed: string
  redirectUri: string
  /** The DID, or the subject of the certificate. */
  issuer: string | undefined
  inLanguage: (language: string) => Promise<ConsentTexts>
  /** The name of the person who logged in. */
  person: string | undefined
  /** Whether a presentation comes first. */
  needsPresentation: boolean
  /** Whether the offer has a transaction code, and where it comes from. */
  txCode: { description: string | undefined; isWrong: boolean; guesses: number } | undefined
}

/** What the issuer calls itself, and the credentials. */
export type ConsentTexts = { issuerName: string | undefined; credentials: ConsentCredential[] }

/** The claims have no values: the wallet shows them, which the person has authorized. */
type ConsentCredential = {
  name: string
  claims: string[]
  /** The `data:` URL of a picture. */
  card: string | undefined
}

export async function toConsent(
  wallet: Wallet,
  issuer: IssuerRow,
  request: CheckedRequest,
  isWrong = false,
): Promise<Consent> {
  const { configurationIds } = request
  const grant = configurationIds ? undefined : await requireGrant(wallet.db, request)
  const records = grant
    ? await getOpenRecords(wallet.db, grant, request.recordIds)
    : await withoutOffer(wallet, issuer, configurationIds!)
  const secrets = grant && openSecrets(wallet, grant)
  const { identity, presentationId } = request
  const needsPresentation =
    presentationId === undefined && (await neededFor(wallet, issuer, request)) !== undefined
  const presented = presentationId === undefined ? undefined : await presentedFor(wallet, issuer, request)
  const { issuingDID, issuerCertificateId } = records[0]!
  const inLanguage = async (language: string): Promise<ConsentTexts> => {
    const issuerName = chooseByLocale(issuerDisplayOf(issuer) ?? [], [language])?.name
    const credentials: ConsentCredential[] = []
    for (const record of records)
      credentials.push(
        await describe(wallet, record, { person: { identity, presented }, language, issuerName }),
      )
    return { issuerName, credentials }
  }
  return {
    sealed: sealRequest(wallet, issuer.id, 'form', request).sealed,
    redirectUri: request.redirectUri,
    issuer:
      issuerCertificateId === undefined
        ? issuingDID
        : (await getCertificate(wallet.db, issuerCertificateId)).subject,
    inLanguage,
    person: identity && nameOf(identity),
    needsPresentation,
    txCode:
      secrets?.txCode === undefined
        ? undefined
        : { description: secrets.txCodeHint?.description, isWrong, guesses: grant!.guesses },
  }
}

type Reader = { person: Person; language: string; issuerName: string | undefined }

/** Display names of a credential and its claims in the language of the reader. */
async function describe(
  wallet: Wallet,
  record: CredentialData,
  { person, language, issuerName }: Reader,
): Promise<ConsentCredential> {
  const { db, urls } = wallet.env
  const { issuerId, configurationId } = record.openid4vci!
  const configuration = await findConfiguration(db, issuerId, configurationId)
  const all = configuration ? claimsOf(configuration) : []
  const { known, wanted } = configuration
    ? originsOf(configuration, { offered: record.claims, ...person })
    : { known: record.claims, wanted: [] }
  const names = record.openid4vci!.begun ? all.map(({ name }) => name) : Object.keys(known)
  if (!configuration) return { name: configurationId, claims: names, card: undefined }
  const display = chooseByLocale(credentialDisplayOf(configuration) ?? [], [language])
  const titles = new Map(all.map(({ name, title }) => [name, title]))
  // A claims source is asked when the wallet requests the credential.
  const sourced = sourceOf(configuration) ? wanted.map(({ path }) => path.at(-1)!) : []
  const labels = new Map(
    settingsOf(configuration).claims?.map(({ path, labels: named = {} }) => {
      const entries = Object.entries(named).map(([locale, label]) => ({ locale, label }))
      return [path.length === 1 ? path[0] : undefined, chooseByLocale(entries, [language])?.label]
    }),
  )
  return {
    name: display?.name ?? configurationId,
    claims: [...new Set([...names, ...sourced])].map((name) => labels.get(name) ?? titles.get(name) ?? name),
    card: await findCard(db, urls.rest, configuration, { language, issuer: issuerName }),
  }
}
