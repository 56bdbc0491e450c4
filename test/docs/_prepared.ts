/** The states that pages begin with: `<!-- starts with: a connection -->`. */
import { mkdirSync } from 'node:fs'
import { writeProfile } from '../../src/foundation/config/profile.ts'
import { adminToken, startAgent, type TestAgent } from '../support/agent.ts'
import { startLyingProvider } from '../exchange/oid4vci/log-in/_lying-provider.ts'
import { share } from '../support/shared.ts'
import { openServer } from '../support/shared-postgres.ts'
import { connectionIn, issue, newDid, oobOf, type Tenant } from '../support/tenants.ts'

/** The agent of all pages, in this process. Each page has its own two tenants. */
export type Shared = TestAgent

export const startShared = (): Promise<Shared> => startAgent()

/**
 * Prepares a state and returns its shell variables. `PostgreSQL` is an empty database, `DATABASE_URL`. Of the
 * others, each contains the previous one:
 *
 * - `two tenants`: the profiles `local`, which is also the administrator's, and `alice`; `AGENT`, `KEY`,
 *   `ALICE`, `ADMIN` and `JSON` for curl.
 * - `a connection`: the labels `Alice` and `Acme`, and published DIDs: `connection` and `issuer` of local,
 *   `holder` of alice.
 * - `an OpenID provider`: `IDP`, its URL. It logs everybody in as Alice.
 * - `a credential`: a JWT, automatically issued: `issued` of local, `held` of alice.
 */
export async function prepare(
  agent: Shared,
  state: string,
  configDir: string,
): Promise<Record<string, string>> {
  if (state === 'PostgreSQL')
    return { DATABASE_URL: await (await openServer()).createDatabase({ isEmpty: true }) }
  const states = ['two tenants', 'a connection', 'an OpenID provider', 'a credential']
  const steps = states.indexOf(state)
  if (steps === -1) throw new Error(`A page starts with ${state}, which is none of: ${states.join(', ')}.`)
  const [local, alice] = [await agent.newTenant('local'), await agent.newTenant('alice')]
  mkdirSync(configDir, { recursive: true })
  writeProfile(configDir, 'local', { kind: 'remote', url: agent.url, adminToken, apiKey: local.apiKey })
  writeProfile(configDir, 'alice', { kind: 'remote', url: agent.url, apiKey: alice.apiKey })
  const connected = steps > 0 ? await introduce(local, alice) : undefined
  const held =
    steps > 2 && connected
      ? await issue(local, alice, connected.connection, connected.issuer, connected.holder)
      : undefined
  return {
    AGENT: agent.url,
    KEY: `apikey: ${local.apiKey}`,
    ALICE: `apikey: ${alice.apiKey}`,
    ADMIN: `x-admin-api-key: ${adminToken}`,
    JSON: 'content-type: application/json',
    ...connected,
    ...(steps > 1 && { IDP: await startProvider() }),
    ...(held && { issued: held.issuerRecordId, held: held.recordId }),
  }
}

async function startProvider(): Promise<string> {
  const { url, state } = await share('OpenID provider', startLyingProvider)
  state.lies = { claims: { aud: 'staff-cards', email: 'alice@example.org' } }
  return url
}

async function introduce(local: Tenant, alice: Tenant) {
  const made = await local.call('POST /connections', { body: { label: 'Alice' } })
  const { connectionId } = await alice.call('POST /connection-invitations', {
    body: { invitation: oobOf(made) },
  })
  await alice.call('PATCH /connections/{connectionId}', { path: { connectionId }, body: { label: 'Acme' } })
  await connectionIn(alice.call, made.thid, 'ConnectionResponseReceived')
  await connectionIn(local.call, made.thid, 'ConnectionResponseSent')
  const { did: issuer } = await newDid(local, 'assertionMethod')
  const { did: holder } = await newDid(alice, 'authentication')
  return { connection: made.connectionId, issuer, holder }
}
