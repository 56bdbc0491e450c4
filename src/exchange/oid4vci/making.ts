/** What an offer in one step makes, and how that is taken back. */
import PQueue from 'p-queue'
import { type OpenIdFormat, openIdTraits } from '../../definitions/format-names.ts'
import type { TemplateFile } from '../../definitions/templates/model.ts'
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { deleteSchema, publishSchema } from '../../credentials/schemas/registry.ts'
import { jsonSchemaType } from '../../credentials/schemas/schema-types.ts'
import { schemasPath } from '../../credentials/schemas/schema.ts'
import { getManagedDid, isManagedDid } from '../../wallet/did-registrar/dids.ts'
import { deleteCertificate, listCertificates } from '../../wallet/issuer-certificates/certificates.ts'
import { createDevelopmentCertificate } from '../../wallet/issuer-certificates/development.ts'
import { type CertificateProfile, SubjectText } from '../../wallet/issuer-certificates/model.ts'
import { assertByteQuota } from '../../wallet/quotas.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { schemaOf } from './claims-schema.ts'
import { createConfiguration } from './configuration-changes.ts'
import {
  type ConfigurationRow,
  configurationsOf,
  deleteConfiguration,
  requireConfiguration,
} from './configurations.ts'
import { createIssuer, deleteIssuer, getOwnIssuer, type IssuerRow } from './issuers.ts'

/** Something that was made. A DID cannot be removed. */
export type Making = {
  kind: 'did' | 'issuer' | 'certificate' | 'schema' | 'configuration'
  id: string
  name?: string
  remove?: () => Promise<unknown>
}

type Context = { db: AgentDb; wallet: Wallet }

const queues = new Map<string, PQueue>()

/** Runs works of a wallet one after the other. */
export async function inTurn<Result>(walletId: string, work: () => Promise<Result>): Promise<Result> {
  const queue = queues.get(walletId) ?? new PQueue({ concurrency: 1 })
  queues.set(walletId, queue)
  try {
    return await queue.add(work)
  } finally {
    if (queue.size + queue.pending === 0) queues.delete(walletId)
  }
}

/**
 * Removes what was made, the last first. Returns the problem to throw: it names what stays. A bug is thrown
 * as it is.
 */
export async function undo(made: readonly Making[], error: unknown): Promise<unknown> {
  for (const { remove } of made.toReversed()) await remove?.()
  const stays = made.find(({ kind }) => kind === 'did')
  if (!stays || !(error instanceof Problem)) return error
  return new Problem(
    error.type,
    `${error.message} The DID ${stays.id} was made for it, and stays in the wallet for the next time.`,
    {
      cause: error,
      title: error.title,
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    },
  )
}

/** Makes an issuer with the name of the wallet's first tenant. */
export async function makeIssuer(context: Context, made: Making[]): Promise<IssuerRow> {
  const { db, wallet } = context
  const tenants = db.selectFrom('entity').select('name').where('wallet_id', '=', wallet.id)
  const tenant = await tenants.orderBy('created_at').orderBy('id').limit(1).executeTakeFirst()
  const name = tenant?.name.trim().slice(0, 200) || 'Issuer'
  const { id } = await createIssuer(context, {
    id: undefined,
    display: [{ name }],
    authorizationServer: undefined,
    issuerCertificateId: undefined,
    encryptionRequired: undefined,
    bearerDeferral: undefined,
    walletProviders: undefined,
    walletAttestation: undefined,
    logIn: undefined,
  })
  made.push({ kind: 'issuer', id, name, remove: () => deleteIssuer(db, wallet.id, id) })
  return getOwnIssuer(db, wallet.id, id)
}

type Described = {
  issuer: IssuerRow
  /** What people call the type. */
  name: string
  claims: Readonly<Record<string, unknown>>
  template: TemplateFile | undefined
  format: OpenIdFormat
  issuingDID: string
}

/** Makes a configuration, with a new schema: that of the template, or one of the claims. */
export async function makeConfiguration(
  context: Context,
  made: Making[],
  { issuer, name, claims, template, format, issuingDID }: Described,
): Promise<ConfigurationRow> {
  const { db, wallet } = context
  const schema: Record<string, unknown> = template
    ? { ...template.schema, title: name }
    : schemaOf(name, claims)
  await assertByteQuota(wallet, JSON.stringify(schema).length)
  const { did, longForm, status } = await getManagedDid(wallet.db, issuingDID)
  const { guid } = await publishSchema(
    db,
    wallet.id,
    {
      name,
      version: '1.0.0',
      type: jsonSchemaType,
      schema,
      tags: [],
      author: status === 'PUBLISHED' ? did : longForm,
    },
    { owns: (author) => isManagedDid(wallet.db, author), resolve: wallet.env.resolver.document },
  )
  made.push({ kind: 'schema', id: guid, name, remove: () => deleteSchema(db, wallet.id, guid) })
  const configurationId = await freeId(db, issuer.id, name)
  const { certificateProfile: profile } = openIdTraits(format)
  const signer = profile
    ? {
        issuerCertificateId: await provideCertificate(wallet, made, profile, { name, claims }),
        issuingDID: undefined,
      }
    : { issuerCertificateId: undefined, issuingDID }
  await createConfiguration(context, issuer.id, {
    configurationId,
    format,
    schemaId: `${wallet.env.urls.rest}/${schemasPath}/${guid}/schema`,
    ...signer,
    display: [{ name, ...template?.display }],
    claims: undefined,
    svgTemplates: undefined,
    extends: undefined,
    integrity: undefined,
    vct: undefined,
    doctype: template?.document?.docType,
    namespaces: template?.document?.namespace,
    alwaysDisclosed: undefined,
    keyAttestation: undefined,
    begin: undefined,
    presentation: undefined,
    renewal: undefined,
    claimsSource: undefined,
  })
  const remove = () => deleteConfiguration(db, wallet.id, issuer.id, configurationId)
  made.push({ kind: 'configuration', id: configurationId, name, remove })
  return requireConfiguration(db, issuer.id, configurationId)
}

/** The country of certificates for documents that name none, which is no country's code. */
const anyCountry = 'UT'

/**
 * The only certificate of the wallet that signs documents, or a new one for development.
 *
 * @throws {Problem} 400 for several
 */
async function provideCertificate(
  wallet: Wallet,
  made: Making[],
  profile: CertificateProfile,
  { name, claims }: Pick<Described, 'name' | 'claims'>,
): Promise<string> {
  const { certificates } = await listCertificates(wallet.db, { offset: 0, limit: 1_000 })
  const ready = certificates.filter((each) => each.profile === profile && each.state === 'ready')
  if (ready.length > 1)
    throw new Problem(
      'BadRequest',
      `credentialConfigurationId: the wallet has ${ready.length} certificates that sign documents. Add a configuration with one of them: agent issuer configuration add.`,
    )
  if (ready[0]) return ready[0].id
  const country = claims['issuing_country']
  const province = SubjectText.safeParse(claims['issuing_jurisdiction']).data
  const { id } = await createDevelopmentCertificate(wallet, {
    profile,
    commonName: name.slice(0, 64),
    country: typeof country === 'string' && /^[A-Z]{2}$/.test(country) ? country : anyCountry,
    // A verifier compares it with that of the certificate.
    ...(province !== undefined && { province }),
  })
  const remove = () => wallet.transaction((tx) => deleteCertificate(tx, id))
  made.push({ kind: 'certificate', id, name, remove })
  return id
}

/** An id like the name that no configuration of the issuer has: letters, digits, hyphens and underscores. */
async function freeId(db: AgentDb, issuerId: string, name: string): Promise<string> {
  const id =
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^\w-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'Credential'
  const taken = new Set((await configurationsOf(db, issuerId)).map((row) => row.id))
  for (let count = 1; ; count++) {
    const next = count === 1 ? id : `${id}-${count}`
    if (!taken.has(next)) return next
  }
}
