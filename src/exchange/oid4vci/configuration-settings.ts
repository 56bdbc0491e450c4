/** The settings of a configuration that are one column. */
import * as z from 'zod'
import { ClaimSettings } from './claim-settings.ts'
import type { ConfigurationRow } from './configurations.ts'
import { Integrity, PictureUri } from './display.ts'

const SvgTemplate = z
  .object({
    uri: PictureUri.describe('An SVG of the issuer (`…/media`).'),
    integrity: Integrity.exactOptional(),
    orientation: z.enum(['landscape', 'portrait']).exactOptional(),
    colorScheme: z.enum(['light', 'dark']).exactOptional(),
    contrast: z.enum(['normal', 'high']).exactOptional(),
  })
  .meta({ id: 'SvgTemplate' })
export const SvgTemplates = z.array(SvgTemplate).min(1).max(10)
export type SvgTemplates = z.output<typeof SvgTemplates>

const Extended = z.object({ uri: z.string(), integrity: z.string() })
export type Extended = z.output<typeof Extended>

export const ConfigurationSettings = z.object({
  claims: ClaimSettings.exactOptional(),
  svgTemplates: SvgTemplates.exactOptional(),
  /** Of the type metadata. Absent: the first. */
  typeVersion: z.int().min(2).exactOptional(),
  /** The type that this one extends, with the digest of its metadata. */
  extends: Extended.exactOptional(),
  /** The earlier versions of the type. */
  akaVcts: z.array(z.string()).exactOptional(),
  /** Credentials do not have the digest of the type metadata, which can change. */
  integrity: z.literal(false).exactOptional(),
})
export type ConfigurationSettings = z.output<typeof ConfigurationSettings>

export function settingsOf({ settings }: Pick<ConfigurationRow, 'settings'>): ConfigurationSettings {
  return settings === null ? {} : ConfigurationSettings.parse(JSON.parse(settings))
}

/** A column of settings. Undefined members are left out. */
export function toSettingsColumn(settings: { [Name in keyof ConfigurationSettings]: unknown }):
  string | null {
  const text = JSON.stringify(settings)
  return text === '{}' ? null : text
}
