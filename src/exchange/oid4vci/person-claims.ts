/**
 * Whom a grant is for: the identity that has logged in, and what the person has presented. Their claims fill
 * those that the offer does not have.
 */
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialData, CredentialRecord } from '../issuance/model.ts'
import { checkContent } from '../issuance/sign.ts'
import { ofPart, originsOf } from './claims-origins.ts'
import { sourceOf } from './claims-source.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import { findGrantById, type GrantRow } from './grant.ts'
import { type Identity, identityOf } from './log-in/identity.ts'
import { type Presented, presentedOf } from './presentation/presented.ts'

/** Empty: the offer suffices. */
export type Person = { identity?: Identity | undefined; presented?: Presented | undefined }

export function personOf(wallet: Wallet, grant: GrantRow): Person {
  return { identity: identityOf(wallet, grant), presented: presentedOf(wallet, grant) }
}

/** The person who gets the credential of a record. */
export async function findPerson(wallet: Wallet, { thid }: Pick<CredentialRecord, 'thid'>): Promise<Person> {
  const grant = await findGrantById(wallet.db, thid)
  return grant ? personOf(wallet, grant) : {}
}

type Terms = Pick<CredentialData, 'claims' | 'openid4vci'>

/** The claims of a credential with those of its person. */
export async function knownClaims(
  wallet: Wallet,
  terms: Terms,
  person: Person,
): Promise<CredentialData['claims']> {
  return knownIn(await configurationOf(wallet, terms), terms, person)
}

function knownIn(
  configuration: ConfigurationRow | undefined,
  { claims }: Terms,
  person: Person,
): CredentialData['claims'] {
  return configuration ? originsOf(configuration, { offered: claims, ...person }).known : claims
}

function configurationOf({ env }: Wallet, { openid4vci }: Terms) {
  const { issuerId, configurationId } = openid4vci!
  return findConfiguration(env.db, issuerId, configurationId)
}

/**
 * The claims of a credential with those of its person, which its schema allows. A claims source may add
 * others, and so may a presentation that comes later (`awaits`).
 *
 * @throws {OAuthError} `credential_request_denied` with the JSON paths of the others, without values
 * @throws {Problem} 503 if the schema cannot be read for now
 */
export async function personClaims(
  wallet: Wallet,
  terms: CredentialData,
  person: Person,
  awaits = false,
): Promise<CredentialData['claims']> {
  const configuration = await configurationOf(wallet, terms)
  const claims = knownIn(configuration, terms, person)
  const isPart = awaits || terms.openid4vci?.isPartial === true || (configuration && sourceOf(configuration))
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

/** The record with the claims of its person. @throws as `personClaims` */
export async function withPersonClaims(
  wallet: Wallet,
  record: CredentialRecord,
  person: Person,
): Promise<CredentialRecord> {
  // What an offer has was checked when it was made.
  if (!person.identity && !person.presented && record.openid4vci?.begun === undefined) return record
  return { ...record, claims: await personClaims(wallet, record, person) }
}
