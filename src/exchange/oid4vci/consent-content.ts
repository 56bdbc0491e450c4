/** What the consent page shows a person of an authorization request. */
import { getCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialData } from '../issuance/model.ts'
import { type CheckedRequest, getOpenRecords, requireGrant } from './authorization-request.ts'
import { withoutOffer } from './begun-by-wallet.ts'
import { claimsOf } from './claims.ts'
import { originsOf } from './claims-origins.ts'
import { sourceOf } from './claims-source.ts'
import { findConfiguration } from './configurations.ts'
import { openSecrets } from './grant.ts'
import type { IssuerRow } from './issuers.ts'
import { nameOf } from './log-in/identity.ts'
import type { Person } from './person-claims.ts'
import { neededFor, presentedFor } from './presentation/needed.ts'
import {
  type InLanguage,
  issuerNameOf,
  type PageContent,
  showCredential,
  type ShownCredential,
} from './page-content.ts'
import { sealRequest } from './sealed-request.ts'

/** The content of the consent page. */
export type Consent = {
  /** The field `request` of the form. */
  sealed: string
  redirectUri: string
  /** The DID, or the subject of the certificate. */
  issuer: string | undefined
  inLanguage: InLanguage
  /** The name of the person who logged in. */
  person: string | undefined
  /** Whether a presentation comes first. */
  needsPresentation: boolean
  /** Whether the offer has a transaction code, and where it comes from. */
  txCode: { description: string | undefined; isWrong: boolean; guesses: number } | undefined
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
  const inLanguage = async (language: string): Promise<PageContent> => {
    const issuerName = issuerNameOf(issuer, language)
    const credentials: ShownCredential[] = []
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

/** What the page shows of the credential of a record. */
async function describe(
  wallet: Wallet,
  record: CredentialData,
  { person, ...reader }: Reader,
): Promise<ShownCredential> {
  const { issuerId, configurationId, begun } = record.openid4vci!
  const configuration = await findConfiguration(wallet.env.db, issuerId, configurationId)
  if (!configuration)
    return { name: configurationId, claims: Object.keys(record.claims ?? {}), card: undefined }
  const { known, wanted } = originsOf(configuration, { offered: record.claims, ...person })
  const names = begun ? claimsOf(configuration).map(({ name }) => name) : Object.keys(known)
  // A claims source is asked when the wallet requests the credential.
  const sourced = sourceOf(configuration) ? wanted.map(({ path }) => path.at(-1)!) : []
  return showCredential(wallet.env, configuration, { ...reader, names: [...new Set([...names, ...sourced])] })
}
