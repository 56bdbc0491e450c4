/**
 * The types of SD-JWT VCs: the type metadata of a credential configuration, which this agent serves at the
 * `vct` (draft-ietf-oauth-sd-jwt-vc, "SD-JWT VC Type Metadata").
 */
import * as z from 'zod'
import { type OpenIdFormat, openIdTraits } from '../../definitions/format-names.ts'
import type { IssuedType } from '../../credentials/formats/format.ts'
import { describeClaims } from './claim-settings.ts'
import { claimsOf } from './claims.ts'
import { settingsOf, type SvgTemplates } from './configuration-settings.ts'
import type { ConfigurationRow } from './configurations.ts'
import { type CredentialDisplay, credentialDisplayOf, type Picture } from './display.ts'
import { documentOf } from './documents.ts'
import { identifierOf } from './issuers.ts'

export const CredentialTypeMetadata = z
  .looseObject({
    vct: z.string(),
    name: z.string(),
    description: z.string().optional(),
    extends: z.string().optional().describe('The type that this one extends.'),
    'extends#integrity': z.string().optional(),
    display: z
      .array(z.looseObject({ locale: z.string(), name: z.string() }))
      .optional()
      .describe('How credentials look, by language.'),
    claims: z.array(
      z.looseObject({
        path: z.array(z.union([z.string(), z.int(), z.null()])),
        mandatory: z.boolean().optional(),
        sd: z.enum(['always', 'never']).optional().describe('Whether the claim is selectively disclosable.'),
        svg_id: z.string().optional(),
        display: z.array(z.object({ locale: z.string(), label: z.string() })).optional(),
      }),
    ),
  })
  .meta({ id: 'CredentialTypeMetadata' })
export type CredentialTypeMetadata = z.infer<typeof CredentialTypeMetadata>

/** The configuration as its type shows it. */
export type Typed = Pick<ConfigurationRow, 'issuer_id' | 'id' | 'vct' | 'claims' | 'display' | 'settings'>

/** The type of a configuration's credentials: chosen by the tenant, or the URL of the type metadata. */
export function vctOf(base: string, row: Pick<Typed, 'issuer_id' | 'id' | 'vct' | 'settings'>): string {
  const { typeVersion } = settingsOf(row)
  const url = `${identifierOf(base, row.issuer_id)}/credential-types/${encodeURIComponent(row.id)}`
  return row.vct ?? (typeVersion === undefined ? url : `${url}/v${typeVersion}`)
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

/** The type for a record, without the digest of its metadata. */
export function toIssuedType(base: string, row: Typed): Exclude<IssuedType, { docType: string }> {
  const { akaVcts } = settingsOf(row)
  const { vct, claims } = toTypeMetadata(base, row)
  const rules = claims.map(({ path, mandatory, sd }) => ({ path, mandatory, sd }))
  return {
    metadata: { vct, claims: rules },
    ...(akaVcts && { akaVcts }),
  }
}

/** The JSON of the type metadata of a configuration. */
export const toDocument = (base: string, row: Typed) => JSON.stringify(toTypeMetadata(base, row))

function toTypeMetadata(base: string, row: Typed): CredentialTypeMetadata {
  const settings = settingsOf(row)
  const display = credentialDisplayOf(row) ?? []
  const { name, description } = display[0] ?? { name: row.id }
  const looks = display.flatMap((each) => toLook(each, settings.svgTemplates))
  return {
    vct: vctOf(base, row),
    name,
    ...(description !== undefined && { description }),
    ...(settings.extends && {
      extends: settings.extends.uri,
      'extends#integrity': settings.extends.integrity,
    }),
    ...(looks.length > 0 && { display: looks }),
    claims: describeClaims(claimsOf(row), settings.claims).map(({ path, stored, setting }) => ({
      path,
      ...(stored && { mandatory: stored.mandatory, sd: stored.disclosable === false ? 'never' : 'always' }),
      ...(setting?.svgId !== undefined && { svg_id: setting.svgId }),
      ...(setting?.labels && {
        display: Object.entries(setting.labels).map(([locale, label]) => ({ locale, label })),
      }),
    })),
  }
}

/** A display of type metadata, which has a language. */
function toLook(
  { locale, name, description, logo, backgroundColor, textColor, backgroundImage }: CredentialDisplay[number],
  templates: SvgTemplates = [],
) {
  if (locale === undefined) return []
  const simple = {
    ...(logo && { logo: toPicture(logo) }),
    ...(backgroundImage && { background_image: toPicture(backgroundImage) }),
    ...(backgroundColor !== undefined && { background_color: backgroundColor }),
    ...(textColor !== undefined && { text_color: textColor }),
  }
  const rendering = {
    ...(Object.keys(simple).length > 0 && { simple }),
    ...(templates.length > 0 && { svg_templates: templates.map(toTemplate) }),
  }
  return [
    {
      locale,
      name,
      ...(description !== undefined && { description }),
      ...(Object.keys(rendering).length > 0 && { rendering }),
    },
  ]
}

function toPicture({ uri, integrity, altText }: Pick<Picture, 'uri' | 'integrity' | 'altText'>) {
  return {
    uri,
    ...(integrity !== undefined && { 'uri#integrity': integrity }),
    ...(altText !== undefined && { alt_text: altText }),
  }
}

function toTemplate({ orientation, colorScheme, contrast, ...picture }: SvgTemplates[number]) {
  const properties = {
    ...(orientation !== undefined && { orientation }),
    ...(colorScheme !== undefined && { color_scheme: colorScheme }),
    ...(contrast !== undefined && { contrast }),
  }
  return { ...toPicture(picture), ...(Object.keys(properties).length > 0 && { properties }) }
}
