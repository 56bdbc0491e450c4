/**
 * The types of credentials that a wallet knows: those that its issuers offer, and those that it holds. A
 * request can name one as people do: by its name, or by its `vct`.
 */
import * as z from 'zod'
import { createCheckpoint } from '../../foundation/checkpoint.ts'
import {
  isTokenFormat,
  openIdFormats,
  type OpenIdFormat,
  openIdTraits,
} from '../../definitions/format-names.ts'
import { Problem } from '../../foundation/problem.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { readQueried } from '../../credentials/formats/queried.ts'
import { canonicalDid } from '../../did/document.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { claimsOf } from '../oid4vci/claims.ts'
import type { ConfigurationRow } from '../oid4vci/configurations.ts'
import { typeOf } from '../oid4vci/credential-types.ts'
import { nameOf as displayNameOf } from '../oid4vci/display.ts'

export const KnownType = z
  .object({
    name: z.string().describe('What people call it.'),
    format: z.enum(openIdFormats),
    types: z
      .array(z.string())
      .describe('The `vct`, the types of a JWT credential, or the `doctype` of an mdoc.'),
    claims: z.array(
      z.object({
        name: z.string(),
        namespace: z.string().optional().describe('Of an mdoc.'),
        title: z.string().optional(),
        mandatory: z.boolean().optional(),
      }),
    ),
    issuedBy: z
      .object({
        issuerId: z.guid(),
        credentialConfigurationId: z.string(),
        issuingDID: z.string().optional(),
        issuerCertificateId: z.guid().optional(),
      })
      .optional()
      .describe('Of a type that this wallet issues.'),
    heldFrom: z.string().optional().describe('Of a type that this wallet holds: the issuer of the newest.'),
  })
  .meta({ id: 'KnownCredentialType' })
export type KnownType = z.infer<typeof KnownType>

/** So many of the newest credentials are read. */
const maxHeld = 1_000

/** The types that the wallet issues, oldest first, and then those that it holds, newest first. */
export async function listKnownTypes(db: AgentDb, wallet: Wallet): Promise<KnownType[]> {
  const rows = await db
    .selectFrom('credential_configuration')
    .selectAll()
    .where('wallet_id', '=', wallet.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const known = new Map<string, KnownType>()
  for (const type of rows.map((row) => toOwnType(wallet.env.urls.rest, row))) {
    // JWT credentials have no type of their own, so their names tell them apart.
    const key = JSON.stringify([type.format, type.types, isNamed(type) ? '' : type.name])
    if (!known.has(key)) known.set(key, type)
  }
  for await (const held of readHeldTypes(wallet)) {
    const key = JSON.stringify([held.format, held.types, ''])
    const earlier = known.get(key)
    if (!earlier) known.set(key, held)
    else if (earlier.issuedBy) earlier.heldFrom ??= held.heldFrom
  }
  return [...known.values()]
}

/** Whether a query can name the type. */
const isNamed = ({ format }: Pick<KnownType, 'format'>) => openIdTraits(format).typeMember !== 'type_values'

function toOwnType(base: string, row: ConfigurationRow): KnownType {
  const format = row.format as OpenIdFormat
  return {
    name: displayNameOf(row) ?? row.id,
    format,
    types: [typeOf(base, row)],
    claims: claimsOf(row).map(({ name, namespace, title, mandatory }) => ({
      name,
      mandatory,
      ...(namespace !== undefined && { namespace }),
      ...(title !== undefined && { title }),
    })),
    issuedBy: {
      issuerId: row.issuer_id,
      credentialConfigurationId: row.id,
      ...(row.issuing_did !== null && { issuingDID: row.issuing_did }),
      ...(row.certificate_id !== null && { issuerCertificateId: row.certificate_id }),
    },
  }
}

async function* readHeldTypes({ db }: Wallet): AsyncGenerator<KnownType> {
  const rows = await db
    .selectFrom('credential')
    .innerJoin('record', 'record.id', 'credential.id')
    .select(['credential.credential', 'credential.format', 'credential.issuer', 'record.data'])
    .orderBy('credential.created_at', 'desc')
    .orderBy('credential.id', 'desc')
    .limit(maxHeld)
    .execute()
  const checkpoint = createCheckpoint()
  for (const { credential, format, issuer, data } of rows) {
    await checkpoint()
    if (!isTokenFormat(CredentialFormat.parse(format))) continue
    const type = toHeldType(credential)
    const name = Named.safeParse(JSON.parse(data)).data?.openid4vci?.credentialName
    if (type) yield { ...type, name: name ?? nameOf(type.types), heldFrom: canonicalDid(issuer) }
  }
}

/** The display name of a held credential, from the metadata of its issuer. */
const Named = z.object({ openid4vci: z.object({ credentialName: z.string().optional() }).optional() })

function toHeldType(token: string): Omit<KnownType, 'name'> | undefined {
  try {
    const { format, types, claimPaths } = readQueried(token)
    const isGrouped = openIdTraits(format).claimDepth === 2
    const claims = claimPaths.map((path) => ({
      name: String(path.at(-1)),
      ...(isGrouped && { namespace: String(path[0]) }),
    }))
    return { format, types: [...types], claims }
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    return undefined
  }
}

/** The last part of a type that is a URL or a URN: `Person` of `https://issuer.example/types/Person`. */
export function nameOf(types: readonly string[]): string {
  const type = types.at(-1) ?? ''
  return type.split(/[/#:]/).findLast((part) => part !== '') ?? type
}

/** `mDL` of `org.iso.18013.5.1.mDL`. */
const lastWord = (types: readonly string[]) => nameOf(types).split('.').at(-1) ?? ''

/** The type with a name, an id or a `vct`. @throws {Problem} 400 if there is none, or several */
export function chooseType(types: readonly KnownType[], wanted: string): KnownType {
  const text = wanted.trim()
  const isExact = ({ types: all, issuedBy }: KnownType) =>
    all.includes(text) || issuedBy?.credentialConfigurationId === text
  const isCalled = ({ name, types: all, issuedBy }: KnownType) =>
    [name, issuedBy?.credentialConfigurationId ?? '', nameOf(all), lastWord(all)].some(
      (each) => each.toLowerCase() === text.toLowerCase(),
    )
  const exact = types.filter(isExact)
  const found = exact.length > 0 ? exact : types.filter(isCalled)
  if (found.length === 1) return found[0]!
  const [shown, reason] =
    found.length > 1
      ? [found, 'is the name of several types. Name one by its vct or its configuration']
      : [types, 'is not a type that this wallet issues or holds. There are']
  const list =
    shown.slice(0, 20).map(describe).join(', ') || 'none: offer a credential first, or give a dcqlQuery'
  throw new Problem('BadRequest', `type: ${text.slice(0, 100)} ${reason}: ${list}.`)
}

const describe = ({ name, types, issuedBy }: KnownType) =>
  `${name} (${issuedBy?.credentialConfigurationId ?? types.join(' ')})`
