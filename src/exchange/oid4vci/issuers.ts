/** OpenID4VCI issuers of a wallet. They are rows of `agent.db`, because anyone may read their metadata. */
import { sql, type Selectable } from 'kysely'
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { requireCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import { assertIssuerQuota } from '../../wallet/quotas.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { DeliveryTexts, deliveryTextsOf } from './delivery-texts.ts'
import { GivenIssuerDisplay, IssuerDisplay, issuerDisplayOf, toColumn } from './display.ts'
import { newEncryptionKey } from './encryption-key.ts'
import { sealSecret } from './server-secret.ts'
import { changeLogIn, LogIn, PatchLogIn, ShownLogIn, toLogIn } from './log-in/settings.ts'
import { changeProviders, toSettings, WalletAttestation, WalletProviders } from './wallet-providers.ts'

export type IssuerRow = Selectable<AgentTables['credential_issuer']>

const Url = z
  .url({
    protocol: /^https?$/,
    error: ({ code, input }) =>
      code === 'invalid_format'
        ? `is not an http or https URL. Relative URL '${String(input).slice(0, 200)}' is not allowed`
        : undefined,
  })
  .max(2_000)
const Text = z.string().min(1).max(1_000)

const AuthorizationServer = z
  .object({
    url: Url.describe('The issuer identifier of the server (RFC 8414).'),
    clientId: Text,
    clientSecret: Text.describe('Stored encrypted, and never returned.'),
  })
  .meta({ id: 'AuthorizationServer' })

/** Settings that the Cloud Agent does not have. */
const extensions = {
  encryptionRequired: optional(z.boolean()).describe(
    'Whether wallets must encrypt requests and get encrypted responses. Default: false (extension).',
  ),
  deliveryTexts: DeliveryTexts.nullish().describe(
    'The messages that deliver offers, by language. Null: those of the agent (extension).',
  ),
  walletProviders: optional(WalletProviders).describe(
    'The wallet providers that the issuer trusts, for wallet attestations and key attestations. `{}`: none (extension).',
  ),
  walletAttestation: optional(WalletAttestation).describe(
    '`required`: wallets must authenticate with the attestation of a trusted provider at the built-in authorization server. Default: `optional` (extension).',
  ),
  bearerDeferral: optional(z.boolean()).describe(
    'Whether a bearer token is good for 30 days at the deferred endpoint, for wallets without DPoP. Default: true (extension).',
  ),
}

export const CreateCredentialIssuer = z
  .object({
    ...extensions,
    display: optional(GivenIssuerDisplay).describe(
      'The name and the logo that wallets show: one object for each language, or only one. Default: none (extension).',
    ),
    id: optional(Uuid).describe('Default: a new UUID.'),
    authorizationServer: optional(AuthorizationServer).describe(
      'An external authorization server. Default: this agent authorizes (extension).',
    ),
    logIn: optional(LogIn).describe(
      'The OpenID provider where people log in before they consent. Default: none (extension).',
    ),
    issuerCertificateId: optional(Uuid).describe(
      'The issuer certificate that signs the metadata, for wallets that accept `application/jwt` (extension).',
    ),
  })
  .meta({ id: 'CreateCredentialIssuerRequest' })
export type CreateCredentialIssuer = z.output<typeof CreateCredentialIssuer>

export const PatchCredentialIssuer = z
  .object({
    ...extensions,
    authorizationServer: optional(
      z
        .object({ url: optional(Url), clientId: optional(Text), clientSecret: optional(Text) })
        .meta({ id: 'PatchAuthorizationServer' }),
    ),
    logIn: PatchLogIn.nullish().describe('As of a new issuer; null removes it (extension).'),
    issuerCertificateId: Uuid.nullish().describe('As of a new issuer; null removes it (extension).'),
    display: GivenIssuerDisplay.nullish().describe('As of a new issuer; null removes it (extension).'),
  })
  .meta({ id: 'PatchCredentialIssuerRequest' })
export type PatchCredentialIssuer = z.output<typeof PatchCredentialIssuer>

export const CredentialIssuer = z
  .object({
    id: z.guid(),
    authorizationServerUrl: z.string(),
    display: IssuerDisplay.optional().describe('As in the request (extension).'),
    deliveryTexts: DeliveryTexts.optional().describe('As in the request (extension).'),
    walletProviders: WalletProviders.optional().describe('As in the request (extension).'),
    walletAttestation: WalletAttestation.optional().describe('If there are wallet providers (extension).'),
    logIn: ShownLogIn.optional().describe('As in the request, without the secret (extension).'),
    issuerCertificateId: z.guid().optional().describe('As in the request (extension).'),
    encryptionRequired: z.literal(true).optional().describe('If the request required it (extension).'),
    bearerDeferral: z.literal(false).optional().describe('Present if it is off (extension).'),
  })
  .meta({ id: 'CredentialIssuer' })
export type CredentialIssuer = z.infer<typeof CredentialIssuer>

/** The Credential Issuer Identifier (VCI §12.2.1); `base` is the public base URL. */
export const identifierOf = (base: string, id: string) => `${base}/oid4vci/issuers/${id}`

/**
 * @throws {Problem} 409 if any wallet of this agent has an issuer with the id, or this wallet has too many;
 * 400 for an unknown certificate
 */
export async function createIssuer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  given: CreateCredentialIssuer,
): Promise<CredentialIssuer> {
  const { id = newId(), authorizationServer: server, issuerCertificateId, encryptionRequired } = given
  if (issuerCertificateId !== undefined) await requireCertificate(wallet.db, issuerCertificateId, undefined)
  const authorization_server = server?.url ?? null
  const row = {
    id,
    wallet_id: wallet.id,
    authorization_server,
    client_id: server?.clientId ?? null,
    client_secret: server ? sealSecret(wallet, id, server.clientSecret) : null,
    certificate_id: issuerCertificateId ?? null,
    encryption_key: newEncryptionKey(wallet, id),
    encryption_required: encryptionRequired ? 1 : 0,
    bearer_deferral: given.bearerDeferral === false ? 0 : 1,
    created_at: new Date().toISOString(),
    wallet_providers: await changeProviders({ wallet_providers: null }, given),
    display: toColumn(given.display),
    log_in: await changeLogIn(wallet, { id, authorization_server, log_in: null }, given.logIn),
    claims_secrets: null,
    delivery_texts: toColumn(given.deliveryTexts),
  }
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from credential_issuer)`
  const { numInsertedOrUpdatedRows } = await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    await assertIssuerQuota(tx, wallet.id)
    return tx
      .insertInto('credential_issuer')
      .values({ ...row, sequence })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow()
  })
  if (!numInsertedOrUpdatedRows)
    throw new Problem(
      'error:OID4VCIIssuerMetadataServiceError:DuplicateIssuerId',
      `id: There is a credential issuer ${id} already. Leave the id out to get a new one.`,
    )
  return toIssuer(wallet.env.urls.rest, row)
}

/** A page of a wallet's issuers, oldest first, and the number of all. */
export async function listIssuers(
  db: AgentDb,
  { id, env }: Wallet,
  paging: Paging,
): Promise<{ issuers: CredentialIssuer[]; total: number }> {
  const own = db.selectFrom('credential_issuer').selectAll().where('wallet_id', '=', id)
  const { rows, total } = await pageOf(own, ['sequence'], paging)
  return { issuers: rows.map((row) => toIssuer(env.urls.rest, row)), total }
}

/**
 * Changes the members that are given.
 *
 * @throws {Problem} 404; 400 if a part of the authorization server would be missing
 */
export async function updateIssuer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  id: string,
  { issuerCertificateId: certificateId, display, deliveryTexts, ...given }: PatchCredentialIssuer,
): Promise<CredentialIssuer> {
  if (certificateId) await requireCertificate(wallet.db, certificateId, undefined)
  const { authorizationServer, encryptionRequired } = given
  const { url, clientId, clientSecret } = { ...authorizationServer }
  const updated = await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    const row = await getOwnIssuer(tx, wallet.id, id)
    const next = {
      authorization_server: url ?? row.authorization_server,
      client_id: clientId ?? row.client_id,
      client_secret: clientSecret === undefined ? row.client_secret : sealSecret(wallet, id, clientSecret),
    }
    const missing = Object.values(next).filter((value) => value === null).length
    if (missing !== 0 && missing !== 3)
      throw new Problem(
        'BadRequest',
        'authorizationServer: the issuer has no external authorization server yet. Give url, clientId and clientSecret.',
      )
    const changed = {
      ...next,
      ...(certificateId !== undefined && { certificate_id: certificateId }),
      ...(encryptionRequired !== undefined && { encryption_required: encryptionRequired ? 1 : 0 }),
      ...(given.bearerDeferral !== undefined && { bearer_deferral: given.bearerDeferral ? 1 : 0 }),
      ...(display !== undefined && { display: toColumn(display) }),
      ...(deliveryTexts !== undefined && { delivery_texts: toColumn(deliveryTexts) }),
      wallet_providers: await changeProviders(row, given),
      log_in: await changeLogIn(wallet, { ...row, ...next }, given.logIn),
    }
    await tx.updateTable('credential_issuer').set(changed).where('id', '=', id).execute()
    return { ...row, ...changed }
  })
  return toIssuer(wallet.env.urls.rest, updated)
}

/** Deletes an issuer and its configurations. Issued credentials stay valid. @throws {Problem} 404 */
export async function deleteIssuer(db: AgentDb, walletId: string, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, walletId)
    await getOwnIssuer(tx, walletId, id)
    await tx.deleteFrom('credential_issuer').where('id', '=', id).execute()
  })
}

/** An issuer of a wallet. @throws {Problem} 404 */
export async function getOwnIssuer(db: AgentDb, walletId: string, id: string): Promise<IssuerRow> {
  const row = await getIssuer(db, id)
  if (row.wallet_id !== walletId) throw issuerNotFound(id)
  return row
}

const rowsById = prepared((db: AgentDb, { id }: { id: string }) =>
  db.selectFrom('credential_issuer').selectAll().where('id', '=', id),
)

/** An issuer of any wallet. @throws {Problem} 404 */
export async function getIssuer(db: AgentDb, id: string): Promise<IssuerRow> {
  const [row] = (await rowsById(db, { id })).rows
  if (!row) throw issuerNotFound(id)
  return row
}

export function issuerNotFound(id: string): Problem {
  return new Problem(
    'error:OID4VCIIssuerMetadataServiceError:IssuerIdNotFound',
    `There is no credential issuer matching the provided identifier: issuerId=${id}`,
  )
}

function toIssuer(
  base: string,
  row: Omit<IssuerRow, 'sequence' | 'wallet_id' | 'created_at'>,
): CredentialIssuer {
  const { id, authorization_server: url, certificate_id: certificate } = row
  const [display, deliveryTexts] = [issuerDisplayOf(row), deliveryTextsOf(row)]
  const logIn = toLogIn(row, identifierOf(base, id))
  return {
    id,
    authorizationServerUrl: url ?? identifierOf(base, id),
    ...(display && { display }),
    ...(logIn && { logIn }),
    ...(deliveryTexts && { deliveryTexts }),
    ...(certificate !== null && { issuerCertificateId: certificate }),
    ...toSettings(row),
    ...(row.encryption_required === 1 && { encryptionRequired: true as const }),
    ...(row.bearer_deferral === 0 && { bearerDeferral: false as const }),
  }
}
