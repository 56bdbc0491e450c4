/** Checks whether bearer tokens of OpenID4VCI issuers are good for longer than five minutes (VCI §13.10). */
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Finding } from './check.ts'

/** Names the first configuration that can defer a credential for wallets whose token is bound to no key. */
export async function checkBearerDeferral(db: AgentDb): Promise<Finding> {
  const configurations = db
    .selectFrom('credential_configuration')
    .innerJoin('credential_issuer', 'credential_issuer.id', 'credential_configuration.issuer_id')
    .select(['issuer_id', 'credential_configuration.id'])
    .where('claims_source', 'is not', null)
    .where('bearer_deferral', '=', 1)
    .where('authorization_server', 'is', null)
    .orderBy('credential_configuration.created_at')
    .orderBy('credential_configuration.id')
  const found = await configurations.limit(1).executeTakeFirst()
  if (!found)
    return { status: 'ok', detail: 'No claims source lets bearer tokens live longer than five minutes.' }
  return {
    status: 'warning',
    detail: `Who finds a bearer token of the OpenID4VCI issuer ${found.issuer_id} gets a deferred credential of ${found.id} with it for 30 days. Tokens of wallets with DPoP are bound to their key.`,
    hint: `agent issuer update ${found.issuer_id} --no-bearer-deferral   # wallets without DPoP then have five minutes`,
  }
}
