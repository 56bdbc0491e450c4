/** The claims of a log-in in a credential: they fill those that the offer does not have, by their names. */
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { isTemporary, Problem } from '../../../foundation/problem.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { CredentialData, CredentialRecord } from '../../issuance/model.ts'
import { checkContent } from '../../issuance/sign.ts'
import { ofPart, originsOf } from '../claims-origins.ts'
import { sourceOf } from '../claims-source.ts'
import { type ConfigurationRow, findConfiguration } from '../configurations.ts'
import { findGrantById } from '../grant.ts'
import { type Identity, identityOf } from './identity.ts'

type Terms = Pick<CredentialData, 'claims' | 'openid4vci'>

/** The claims of a credential with those of a log-in. */
export async function knownClaims(
  wallet: Wallet,
  terms: Terms,
  identity: Identity | undefined,
): Promise<CredentialData['claims']> {
  return knownIn(await configurationOf(wallet, terms), terms, identity)
}

function knownIn(
  configuration: ConfigurationRow | undefined,
  { claims }: Terms,
  identity: Identity | undefined,
): CredentialData['claims'] {
  return configuration ? originsOf(configuration, { offered: claims, identity }).known : claims
}

function configurationOf({ env }: Wallet, { openid4vci }: Terms) {
  const { issuerId, configurationId } = openid4vci!
  return findConfiguration(env.db, issuerId, configurationId)
}

/**
 * The claims of a credential with those of a log-in, which its schema allows. A claims source may add others.
 *
 * @throws {OAuthError} `credential_request_denied` with the JSON paths of the others, without values
 * @throws {Problem} 503 if the schema cannot be read for now
 */
export async function logInClaims(
  wallet: Wallet,
  terms: CredentialData,
  identity: Identity | undefined,
): Promise<CredentialData['claims']> {
  const configuration = await configurationOf(wallet, terms)
  const claims = knownIn(configuration, terms, identity)
  const isPart = terms.openid4vci?.isPartial === true || (configuration && sourceOf(configuration))
  const { credentialFormat, schemaIds, validityPeriod, automaticIssuance = true, openid4vci } = terms
  const all = { credentialFormat, schemaIds, validityPeriod, automaticIssuance, claims }
  await checkContent(wallet, { ...all, type: openid4vci?.type }, isPart ? ofPart : undefined).catch(
    (cause: unknown) => {
      if (!(cause instanceof Problem) || isTemporary(cause)) throw cause
      const message = `The claims do not make this credential. ${cause.message}`
      throw new OAuthError('credential_request_denied', message, { cause })
    },
  )
  return claims
}

/** The record with the claims of whoever has logged in for it. @throws as `logInClaims` */
export async function withLogInClaims(
  wallet: Wallet,
  record: CredentialRecord,
  identity: Identity | undefined,
): Promise<CredentialRecord> {
  // What an offer has was checked when it was made.
  if (!identity && record.openid4vci?.begun === undefined) return record
  return { ...record, claims: await logInClaims(wallet, record, identity) }
}

/** The identity that logged in for the credential of a record. */
export async function findIdentity(
  wallet: Wallet,
  { thid }: Pick<CredentialRecord, 'thid'>,
): Promise<Identity | undefined> {
  const grant = await findGrantById(wallet.db, thid)
  return grant && identityOf(wallet, grant)
}
