/** What the consent page shows a person of an authorization request. */
import { getCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialData } from '../issuance/model.ts'
import { type CheckedRequest, getOpenRecords, requireGrant } from './authorization-request.ts'
import { withoutOffer } from './begun-by-wallet.ts'
import { claimsOf } from './claims.ts'
import { findConfiguration } from './configurations.ts'
import { credentialDisplayOf, issuerDisplayOf } from './display.ts'
import { openSecrets } from './grant.ts'
import type { IssuerRow } from './issuers.ts'
import { knownClaims } from './log-in/claims.ts'
import { nameOf } from './log-in/identity.ts'
import { sealRequest } from './sealed-request.ts'

/** The content of the consent page. */
export type Consent = {
  /** The field `request` of the form. */
  sealed: string
  redirectUri: string
  /** The DID, or the subject of the certificate. */
  issuer: string | undefined
  /** What the issuer calls itself, and the credential. */
  issuerName: string | undefined
  /** The names of the claims. Their values are shown by the wallet, which the person has authorized. */
  credentials: { name: string; claims: string[] }[]
  /** Who has logged in. */
  person: string | undefined
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
  const { issuingDID, issuerCertificateId } = records[0]!
  const credentials: Consent['credentials'] = []
  for (const record of records) credentials.push(await describe(wallet, issuer, record, request.identity))
  return {
    sealed: sealRequest(wallet, issuer.id, 'form', request).sealed,
    redirectUri: request.redirectUri,
    issuer:
      issuerCertificateId === undefined
        ? issuingDID
        : (await getCertificate(wallet.db, issuerCertificateId)).subject,
    issuerName: issuerDisplayOf(issuer)?.name,
    credentials,
    person: request.identity && nameOf(request.identity),
    txCode:
      secrets?.txCode === undefined
        ? undefined
        : { description: secrets.txCodeHint?.description, isWrong, guesses: grant!.guesses },
  }
}

/** What people call a credential and its claims. */
async function describe(
  wallet: Wallet,
  issuer: IssuerRow,
  record: CredentialData,
  identity: CheckedRequest['identity'],
): Promise<Consent['credentials'][number]> {
  const { configurationId } = record.openid4vci!
  const configuration = await findConfiguration(wallet.env.db, issuer.id, configurationId)
  const all = configuration ? claimsOf(configuration) : []
  const titles = new Map(all.map(({ name, title }) => [name, title]))
  const claims = record.openid4vci?.begun
    ? Object.fromEntries(titles)
    : await knownClaims(wallet, record, identity)
  return {
    name: (configuration && credentialDisplayOf(configuration)?.name) ?? configurationId,
    claims: Object.keys(claims).map((name) => titles.get(name) ?? name),
  }
}
