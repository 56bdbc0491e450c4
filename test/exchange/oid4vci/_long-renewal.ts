/**
 * A credential of an hour that renews itself for days: an employee has logged in once. Issuer and wallet are
 * daemons whose clocks jump to the time of the next renewal.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { assemble } from '../../support/assemble.ts'
import { jump, withJumpingClock } from '../../support/jumping-clock.ts'
import { publishSchema, startDaemonPair, until } from '../../support/tenants.ts'
import { answer, sealedIn } from './_authorization.ts'
import { filled, openSource } from './_claims-source.ts'
import { addIssuer, recordOf } from './_wallet.ts'
import { inState, receive, show, type Record as Held } from './holder/_holder.ts'
import { renewalOf } from './holder/_refresh.ts'
import { browse, useProvider } from './log-in/_browser.ts'
import { startIdentityProvider } from './log-in/_real-provider.ts'

const memory = fileURLToPath(new URL('../../faults/_memory.mjs', import.meta.url))

const configurationId = 'Employee'

export type LongRenewal = Awaited<ReturnType<typeof startLongRenewal>>

/** @param lifetime of the credential, in seconds */
export function startLongRenewal({ lifetime }: { lifetime: number }) {
  return assemble(async (use) => {
    const NODE_OPTIONS = `${withJumpingClock.NODE_OPTIONS} --import=${memory}`
    const { acme, alice, issuer, holder } = use(await startDaemonPair({ NODE_OPTIONS }))
    const setup = await addIssuer(acme, issuer)
    const redirectUris = [`${setup.identifier}/log-in`]
    const provider = use(await startIdentityProvider({ redirectUris }))
    await useProvider(setup, provider.url, { scope: 'openid profile' })
    const source = use(await openSource())
    const work = (department: string) => source.answers(filled({ department }, { validitySeconds: lifetime }))
    work('Sales')
    await addEmployee(setup, source.url)
    const recordId = await logIn(setup, holder)
    const { contents } = await issuer.call('GET /issue-credentials/records')
    const [clock, daemons] = [{ aheadMs: 0 }, [acme, alice]]
    return {
      setup,
      issuer,
      holder,
      daemons,
      /** Gives the employee another department. */
      work,
      recordId,
      issuerRecordId: contents[0]!.recordId,
      /** The time of both daemons. */
      now: () => Date.now() + clock.aheadMs,
      async jumpTo(ms: number) {
        const byMs = ms - Date.now() - clock.aheadMs
        if (byMs <= 0) return
        clock.aheadMs += byMs
        await jump(daemons, byMs)
      },
    }
  })
}

async function addEmployee(
  { tenant, issuerId, issuingDID }: Awaited<ReturnType<typeof addIssuer>>,
  url: string,
): Promise<void> {
  const path = { issuerId }
  await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path })
  const schemaId = await publishSchema(tenant, issuingDID, {
    name: 'employee',
    properties: { name: { type: 'string' }, department: { type: 'string' } },
    required: ['name', 'department'],
  })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path,
    body: {
      configurationId,
      format: 'dc+sd-jwt',
      schemaId,
      issuingDID,
      begin: 'log-in',
      renewal: { days: 90 },
      claimsSource: { url },
    },
  })
}

/** The person scans the printed offer, logs in, and accepts. Returns the record with the credential. */
async function logIn(
  setup: Awaited<ReturnType<typeof addIssuer>>,
  holder: Parameters<typeof receive>[0],
): Promise<string> {
  const printed = `${setup.identifier}/offers/${configurationId}`
  const query = new URLSearchParams({ credential_offer_uri: printed }).toString()
  const { recordId } = await receive(holder, `openid-credential-offer://?${query}`)
  const path = { recordId }
  const { openid4vci } = await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri: 'http://127.0.0.1:1/callback' },
  })
  const { searchParams } = new URL(openid4vci!.authorizationUrl!)
  const page = await browse(setup, Object.fromEntries(searchParams))
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const body = Object.fromEntries(location!.searchParams) as { code: string; state: string; iss: string }
  await holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body })
  await inState(holder, recordId, 'CredentialReceived')
  return recordId
}

/** Jumps to the time of the next renewal, and waits until it is over and the issuer knows so. */
export async function renewOnce(scene: LongRenewal): Promise<Held> {
  const { holder, setup, recordId, issuerRecordId } = scene
  const before = renewalOf(await show(holder, recordId))
  const { dueAt, count = 0 } = before
  if (dueAt === undefined) throw new Error(`no renewal is planned: ${JSON.stringify(before)}`)
  await scene.jumpTo(Date.parse(dueAt) + 1_000)
  const record = await until(
    'the renewal',
    () => show(holder, recordId),
    (shown) => {
      const renewal = renewalOf(shown)
      return renewal.state !== 'running' && renewal.dueAt !== dueAt
    },
  )
  if (renewalOf(record).count !== count + 1) return record
  await until(
    'the notification',
    () => recordOf(setup, issuerRecordId),
    ({ notification, renewed }) => notification !== undefined && renewed?.count === count + 1,
  )
  return record
}

/** The rows of each table in the wallets of issuer and holder, and their files and memory in megabytes. */
export async function measure({ daemons, issuer, holder }: LongRenewal) {
  const measured: { [name: string]: number }[] = []
  for (const [n, { walletId }] of [issuer, holder].entries()) {
    const file = join(daemons[n]!.dataDir, 'wallets', `${walletId}.db`)
    const database = openSqlite(file, { readonly: true })
    const tables = database.prepare("select name from sqlite_master where type = 'table'").pluck().all()
    const rows = (tables as string[]).map((name): [string, number] => [
      name,
      database.prepare(`select count(*) from "${name}"`).pluck().get() as number,
    ])
    database.close()
    const { used, resident } = (await daemons[n]!.exchange({ type: 'memory' })) as Record<string, number>
    const sizes = { file: statSync(file).size, heap: used!, resident: resident! }
    measured.push({
      ...Object.fromEntries(rows.filter(([, count]) => count > 0)),
      ...Object.fromEntries(Object.entries(sizes).map(([name, bytes]) => [`MB ${name}`, bytes / 2 ** 20])),
    })
  }
  return { issuer: measured[0]!, holder: measured[1]! }
}
