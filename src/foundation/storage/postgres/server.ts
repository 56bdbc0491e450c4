/**
 * The requirements of a node on a PostgreSQL server, its role and its tables. A start and `agent doctor`
 * check them.
 */
import type { Pool } from 'pg'
import { query } from './connect.ts'
import * as init from './migrations/001-init.ts'
import * as openid4vci from './migrations/002-openid4vci.ts'
import * as issuerCertificate from './migrations/003-issuer-certificate.ts'
import * as attestations from './migrations/004-attestations.ts'
import * as issuerCertificates from './migrations/005-issuer-certificates.ts'
import * as vdrEntry from './migrations/006-vdr-entry.ts'
import * as storageEvent from './migrations/007-storage-event.ts'
import * as openid4vp from './migrations/008-openid4vp.ts'
import * as bearerTokens from './migrations/009-bearer-tokens.ts'
import * as trustAnchor from './migrations/010-trust-anchor.ts'
import * as ledgerList from './migrations/011-ledger-list.ts'
import * as sessionOpenId4Vp from './migrations/012-session-openid4vp.ts'
import * as webhookBatch from './migrations/013-webhook-batch.ts'
import * as display from './migrations/014-display.ts'
import * as didLabel from './migrations/015-did-label.ts'
import * as mdocCertificate from './migrations/016-mdoc-certificate.ts'
import * as document from './migrations/017-document.ts'
import * as webhookTypes from './migrations/018-webhook-types.ts'
import * as issuanceGrant from './migrations/019-issuance-grant.ts'
import * as branding from './migrations/020-branding.ts'
import * as logIn from './migrations/021-log-in.ts'
import * as access from './migrations/023-access.ts'
import * as refreshToken from './migrations/024-refresh-token.ts'
import * as delivery from './migrations/026-delivery.ts'
import * as renewalGrant from './migrations/027-renewal-grant.ts'
import * as copies from './migrations/029-copies.ts'
import * as claimsSource from './migrations/022-claims-source.ts'
import type { Migrations } from '../migrate.ts'
import { walletTables } from './wallet-rows.ts'

export const postgresMigrations: Migrations = {
  '001-init': init,
  '002-openid4vci': openid4vci,
  '003-issuer-certificate': issuerCertificate,
  '004-attestations': attestations,
  '005-issuer-certificates': issuerCertificates,
  '006-vdr-entry': vdrEntry,
  '007-storage-event': storageEvent,
  '008-openid4vp': openid4vp,
  '009-bearer-tokens': bearerTokens,
  '010-trust-anchor': trustAnchor,
  '011-ledger-list': ledgerList,
  '012-session-openid4vp': sessionOpenId4Vp,
  '013-webhook-batch': webhookBatch,
  '014-display': display,
  '015-did-label': didLabel,
  '016-mdoc-certificate': mdocCertificate,
  '017-document': document,
  '018-webhook-types': webhookTypes,
  '019-issuance-grant': issuanceGrant,
  '020-branding': branding,
  '021-log-in': logIn,
  '022-claims-source': claimsSource,
  '023-access': access,
  '024-refresh-token': refreshToken,
  '026-delivery': delivery,
  '027-renewal-grant': renewalGrant,
  '029-copies': copies,
}

/** PostgreSQL 15 is the oldest release that is tested. */
const oldestServer = 150_000

export type Server = {
  /** As a number, `180001`, and as a text, `18.1`. */
  version: number
  release: string
  role: string
  database: string
  bypasses: boolean
  mayCreate: boolean
  fsync: boolean
  fullPageWrites: boolean
}

/** A failed requirement: a sentence with the way out, and a statement that repairs it. */
export type Fault = { detail: string; hint: string }

export async function readServer(pool: Pool): Promise<Server> {
  const [server] = await query<Server>(
    pool,
    `select current_setting('server_version_num')::integer as version, current_setting('server_version') as release,
      current_user as role, current_database() as database, rolsuper or rolbypassrls as bypasses,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate",
      current_setting('fsync') = 'on' as fsync, current_setting('full_page_writes') = 'on' as "fullPageWrites"
    from pg_roles where rolname = current_user`,
  )
  return server!
}

/** Why no node can work with a server and a role. */
export function findServerFault({ version, release, role, bypasses, mayCreate }: Server): Fault | undefined {
  if (version < oldestServer)
    return {
      detail: `AGENT_DATABASE_URL names a PostgreSQL ${release}, which is too old: use release 15 or later.`,
      hint: 'pg_upgrade   # or pg_dump, and restore into a server of release 15 or later',
    }
  if (bypasses)
    return {
      detail: `The role ${role} of AGENT_DATABASE_URL is a superuser or bypasses row-level security, which separates the tenants: use a role with NOSUPERUSER NOBYPASSRLS that owns the database.`,
      hint: `alter role ${role} nosuperuser nobypassrls   -- as another superuser`,
    }
  if (!mayCreate)
    return {
      detail: `The role ${role} of AGENT_DATABASE_URL may not create tables in its schema: make it the owner of the database, or grant CREATE on the schema.`,
      hint: `grant create on schema public to ${role}   -- as the owner of the database`,
    }
  return undefined
}

/** The migrations of this release that the database lacks, and the last one that this release does not know. */
export async function readMigrations(
  pool: Pool,
  migrations: Migrations = postgresMigrations,
): Promise<{ missing: number; unknown?: string }> {
  const [known] = await query<{ exists: boolean }>(
    pool,
    `select to_regclass('kysely_migration') is not null as exists`,
  )
  const rows = known!.exists
    ? await query<{ name: string }>(pool, 'select name from kysely_migration order by name')
    : []
  const done = rows.map(({ name }) => name)
  const unknown = done.findLast((name) => !Object.hasOwn(migrations, name))
  const missing = Object.keys(migrations).filter((name) => !done.includes(name)).length
  return { missing, ...(unknown !== undefined && { unknown }) }
}

/**
 * The tables of wallets whose rows every wallet could read: without row-level security, or with another
 * policy than the first migration made.
 */
export async function findUnprotected(pool: Pool): Promise<Fault | undefined> {
  const rows = await query<{ name: string }>(
    pool,
    `select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relname = any($1) and not (
      relrowsecurity and relforcerowsecurity
      and (select count(*) from pg_policy where polrelid = pg_class.oid) = 1
      and exists (
        select from pg_policy where polrelid = pg_class.oid and polname = 'own_wallet' and polcmd = '*'
          and pg_get_expr(polqual, polrelid) = $2 and pg_get_expr(polwithcheck, polrelid) = $2
      )
    ) order by relname`,
    [walletTables, ownRow],
  )
  const [first] = rows
  if (!first) return undefined
  const others = rows.length > 1 ? ` and ${rows.length - 1} more` : ''
  return {
    detail: `Row-level security does not separate the tenants in the table ${first.name}${others}: it is off, not forced, or has another policy. Restore it before a node uses the database.`,
    hint: `drop policy if exists own_wallet on ${first.name}; create policy own_wallet on ${first.name} using ${ownRow} with check ${ownRow}; alter table ${first.name} enable row level security, force row level security   -- and drop other policies`,
  }
}

/** The condition of the policy, as PostgreSQL prints it. */
const ownRow = `(wallet_id = (current_setting('app.wallet'::text))::uuid)`
