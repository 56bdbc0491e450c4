/** Asks the claims source of a record whose wallet has requested the credential. */
import { isTemporary, Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import { checkContent, termsOf } from '../issuance/sign.ts'
import { type Decision, toDecision, unusable, waitForTenant } from './claims-decision.ts'
import { originsOf, withAnswer } from './claims-origins.ts'
import { claimsSecretsOf } from './claims-secret.ts'
import { askSource, type ClaimsRequest, type ClaimsSource, sourceOf } from './claims-source.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import { credentialIdentifierOf } from './grant.ts'
import { getIssuer } from './issuers.ts'
import { findPerson, knownClaims, type Person } from './person-claims.ts'
import { offeredIn, type Sourced } from './sourced.ts'

export type Source = ClaimsSource & { configuration: ConfigurationRow }

/** The claims source of the configuration of a record. Undefined: it has none. */
export async function findSource(
  { env }: Wallet,
  { openid4vci }: Pick<CredentialRecord, 'openid4vci'>,
): Promise<Source | undefined> {
  if (!openid4vci) return undefined
  const configuration = await findConfiguration(env.db, openid4vci.issuerId, openid4vci.configurationId)
  return configuration && toSource(configuration)
}

/** The claims source of a configuration. Undefined: it has none. */
export function toSource(configuration: ConfigurationRow): Source | undefined {
  const source = sourceOf(configuration)
  return source && { ...source, configuration }
}

/** Why a source is asked. `id` is the same for each repetition of one need. */
export type Need = { purpose: 'issue' | 'refresh'; id: string }

/**
 * Asks the claims source of a record. Undefined: there is none, and the record has the claims.
 *
 * @throws {Problem} 503 if the schema cannot be read for now
 */
export async function askForClaims(
  wallet: Wallet,
  record: CredentialRecord,
  source: Source | undefined,
  need: Need = { purpose: 'issue', id: record.id },
): Promise<Decision | undefined> {
  const { env } = wallet
  if (!source) return waitForMissing(wallet, record)
  const { configuration } = source
  const { issuer_id: issuerId, id: configurationId } = configuration
  const secrets = claimsSecretsOf(wallet, await getIssuer(env.db, issuerId))
  if (!secrets) throw new Error(`the issuer ${issuerId} has a claims source, and no secret for it`)
  const person = await findPerson(wallet, record)
  const offered = offeredIn(record)
  const { known, wanted } = originsOf(configuration, { offered, ...person })
  const answer = await askSource(env, {
    source,
    secrets,
    id: need.id,
    request: {
      issuerId,
      recordId: record.id,
      configurationId,
      credentialIdentifier: credentialIdentifierOf(record),
      purpose: need.purpose,
      ...toIdentity(person),
      offered,
      wanted: wanted.map(({ as }) => as),
      wallet: { attested: record.openid4vci?.isAttested === true },
    },
  })
  env.log.info(
    { walletId: wallet.id, recordId: record.id, outcome: answer.kind },
    'claims of a source were needed',
  )
  if (answer.kind !== 'claims')
    return toDecision(record, answer, {
      // The wallet of a deferred request waits already.
      fails: record.state !== 'RequestDeferred' && !record.renewing && source.onFailure === 'fail',
      retryFor: env.config.OID4VCI_CLAIMS_RETRY_FOR,
    })
  const { claims, validitySeconds, digest } = answer
  const sourced = {
    claims: withAnswer(known, claims, wanted),
    ...(validitySeconds !== undefined && { validityPeriod: validitySeconds }),
    keeps: source.keepClaims,
    digest,
  }
  const fault = await findFault(wallet, record, sourced)
  return fault ? waitForTenant(record, unusable(fault.message)) : { kind: 'claims', sourced }
}

/** Who gets the credential, as its source is told: by the log-in, else by the presentation. */
function toIdentity({ identity, presented }: Person): Pick<ClaimsRequest, 'identity'> {
  if (identity) return { identity: { from: 'log-in', ...identity } }
  return presented ? { identity: { from: 'presentation', ...presented } } : {}
}

/** An offer without claims needs a source, which its configuration may have had. */
async function waitForMissing(wallet: Wallet, record: CredentialRecord): Promise<Decision | undefined> {
  if (record.openid4vci?.isPartial !== true) return undefined
  const claims = await knownClaims(wallet, record, await findPerson(wallet, record))
  const fault = await findFault(wallet, record, { claims })
  return fault
    ? waitForTenant(record, unusable(`The configuration has no claims source. ${fault.message}`))
    : { kind: 'claims', sourced: { claims, keeps: true } }
}

/** Why claims cannot be issued. */
export async function findFault(
  wallet: Wallet,
  record: CredentialRecord,
  { claims, validityPeriod = record.validityPeriod }: Pick<Sourced, 'claims' | 'validityPeriod'>,
): Promise<Problem | undefined> {
  try {
    await checkContent(wallet, { ...termsOf(record), claims, validityPeriod })
    return undefined
  } catch (error) {
    if (error instanceof Problem && !isTemporary(error)) return error
    throw error
  }
}
