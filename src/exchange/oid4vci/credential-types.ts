/**
 * The types of SD-JWT VCs: the type metadata of a credential configuration, which this agent serves at the
 * `vct`.
 */
import * as z from 'zod'
import { type OpenIdFormat, isTyped, openIdTraits } from '../../definitions/format-names.ts'
import { utf8 } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { integrityOf } from '../../credentials/codecs/sd-jwt/type-metadata.ts'
import type { IssuedType } from '../../credentials/formats/format.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { claimsOf } from './claims.ts'
import { findConfiguration, type ConfigurationRow } from './configurations.ts'
import { credentialDisplayOf } from './display.ts'
import { documentOf } from './documents.ts'
import { identifierOf } from './issuers.ts'

export const CredentialTypeMetadata = z
  .object({
    vct: z.string(),
    name: z.string(),
    description: z.string().optional(),
    claims: z.array(
      z.object({
        path: z.array(z.string()),
        mandatory: z.boolean(),
        sd: z.enum(['always', 'never']).describe('Whether the claim is selectively disclosable.'),
      }),
    ),
  })
  .meta({ id: 'CredentialTypeMetadata' })
export type CredentialTypeMetadata = z.infer<typeof CredentialTypeMetadata>

/** The configuration as its type shows it. */
type Typed = Pick<ConfigurationRow, 'issuer_id' | 'id' | 'vct' | 'claims' | 'display'>

/** The type of a configuration's credentials: chosen by the tenant, or the URL of the type metadata. */
export function vctOf(base: string, { issuer_id, id, vct }: Pick<Typed, 'issuer_id' | 'id' | 'vct'>): string {
  return vct ?? `${identifierOf(base, issuer_id)}/credential-types/${encodeURIComponent(id)}`
}

/** The type by which queries name the credentials of a configuration. */
export function typeOf(base: string, row: Typed & Pick<ConfigurationRow, 'format' | 'document'>): string {
  const { configurationMember, anyType } = openIdTraits(row.format as OpenIdFormat)
  const types = {
    vct: () => vctOf(base, row),
    credential_definition: () => anyType,
    doctype: () => documentOf(row)!.docType,
  }
  return types[configurationMember]()
}

/**
 * The type for a record. Metadata of a type that the tenant chose are served elsewhere, and their integrity
 * is unknown.
 */
export function toIssuedType(base: string, row: Typed): IssuedType {
  const metadata = toTypeMetadata(base, row)
  return row.vct === null ? { metadata, integrity: integrityOf(utf8(toText(metadata))) } : { metadata }
}

/**
 * The JSON of the type metadata of a configuration, whose digest is in its credentials.
 *
 * @throws {Problem} 404
 */
export async function readTypeMetadata(
  db: AgentDb,
  base: string,
  issuerId: string,
  configurationId: string,
): Promise<string> {
  const row = await findConfiguration(db, issuerId, configurationId)
  if (!row || !isTyped(row.format as OpenIdFormat) || row.vct !== null)
    throw new Problem('NotFound', 'There is no such credential type.')
  return toText(toTypeMetadata(base, row))
}

const toText = (metadata: CredentialTypeMetadata) => JSON.stringify(metadata)

function toTypeMetadata(base: string, row: Typed): CredentialTypeMetadata {
  const claims = claimsOf(row).map(({ name, mandatory, disclosable = true }) => ({
    path: [name],
    mandatory,
    sd: disclosable ? ('always' as const) : ('never' as const),
  }))
  const { name = row.id, description } = credentialDisplayOf(row) ?? {}
  return { vct: vctOf(base, row), name, ...(description !== undefined && { description }), claims }
}
