/** Issuance without an offer: the records of the credentials that a person has let a wallet have. */
import { formatOfId, type OpenIdFormat } from '../../definitions/format-names.ts'
import type { IssuedType } from '../../credentials/formats/format.ts'
import { newId } from '../../foundation/id.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { begin } from '../engine/record.ts'
import { issueCredential, type CredentialData, type CredentialRecord } from '../issuance/model.ts'
import type { CheckedRequest } from './authorization-request.ts'
import { sourceOf } from './claims-source.ts'
import { isOpenTo } from './configuration-access.ts'
import { findConfiguration, type ConfigurationRow } from './configurations.ts'
import { type GrantRow, updateGrant } from './grant.ts'
import type { IssuerRow } from './issuers.ts'
import { describeType, useType } from './type-documents.ts'

/**
 * The fields of a record for each configuration. Their claims are not known yet. With `keepsTypes`, their
 * type metadata are kept from now on.
 *
 * @throws {OAuthError} `invalid_grant` if one needs an offer by now
 */
export async function withoutOffer(
  wallet: Wallet,
  issuer: IssuerRow,
  ids: readonly string[],
  keepsTypes = false,
): Promise<CredentialData[]> {
  const all: CredentialData[] = []
  for (const id of ids) {
    const configuration = await findConfiguration(wallet.env.db, issuer.id, id)
    if (!configuration || !isOpenTo(configuration, issuer))
      throw new OAuthError('invalid_grant', `The issuer does not issue ${id} without an offer any more.`)
    const described = describeType(wallet, configuration)
    const type = keepsTypes ? await useType(wallet, configuration, described) : described
    all.push(toData(configuration, type))
  }
  return all
}

function toData(configuration: ConfigurationRow, type: IssuedType | undefined): CredentialData {
  const { id, issuer_id: issuerId, schema_id, issuing_did, certificate_id } = configuration
  const format = configuration.format as OpenIdFormat
  return issueCredential.model.parse({
    credentialFormat: formatOfId(format),
    claims: {},
    schemaIds: [schema_id],
    automaticIssuance: true,
    ...(issuing_did !== null && { issuingDID: issuing_did }),
    ...(certificate_id !== null && { issuerCertificateId: certificate_id }),
    openid4vci: {
      issuerId,
      configurationId: id,
      expiresTime: Math.floor(Date.now() / 1_000),
      begun: 'wallet',
      ...(sourceOf(configuration) && { isPartial: true }),
      ...(type && { type }),
    },
  })
}

/**
 * Limits what a configuration issues in a day without an offer, or how often a step before it begins.
 *
 * @throws {Problem} 429
 */
export async function limitWithoutOffer(
  { env }: Wallet,
  { id: issuerId }: IssuerRow,
  { configurationIds = [] }: CheckedRequest,
  step = '',
): Promise<void> {
  for (const id of configurationIds) await env.limitOpen(`${issuerId} ${id}${step}`)
}

/** Begins the records of a grant when its code is redeemed. */
export async function beginRecords(
  tx: Tx,
  { id: thid }: GrantRow,
  all: readonly CredentialData[],
  attested: { isAttested: boolean } | undefined,
): Promise<CredentialRecord[]> {
  const records: CredentialRecord[] = []
  for (const [place, { openid4vci, ...fields }] of all.entries()) {
    const data = { ...fields, openid4vci: { ...openid4vci!, ...attested } }
    const initial = { id: newId(), thid, place, data }
    records.push(await begin(tx, issueCredential, 'Issuer', 'received token request', initial))
  }
  await updateGrant(tx, thid, { records: JSON.stringify(records.map(({ id }) => id)) })
  return records
}
