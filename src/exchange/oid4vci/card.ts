/** The card of a credential for the pages of its issuer: the SVG template, or one of name, colours and logo. */
import { type Card, drawCard, lightTemplate, toImageUrl } from '../../credentials/display/card.ts'
import { renderSvg } from '../../credentials/display/svg.ts'
import { chooseByLocale } from '../../foundation/locale.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { settingsOf } from './configuration-settings.ts'
import type { ConfigurationRow } from './configurations.ts'
import { credentialDisplayOf, type Picture } from './display.ts'
import { digestOfUri, findPicture } from './media.ts'

/**
 * The URL of a picture of the card, without values of claims. Undefined without a look. Pictures of other
 * hosts are left out, because a page loads none.
 */
export async function findCard(
  db: AgentDb,
  base: string,
  row: ConfigurationRow,
  { language, issuer }: { language: string; issuer: string | undefined },
): Promise<string | undefined> {
  const display = chooseByLocale(credentialDisplayOf(row) ?? [], [language])
  if (!display) return undefined
  const { name, description, backgroundColor, textColor, logo, backgroundImage } = display
  const read = async (uri: string) => {
    const digest = digestOfUri(base, row.issuer_id, uri)
    return digest === undefined ? undefined : findPicture(db, row.issuer_id, digest)
  }
  const toUrl = async (picture: Picture | undefined) => {
    if (picture?.uri.startsWith('data:')) return picture.uri
    const found = picture && (await read(picture.uri))
    return found && `data:${found.mediaType};base64,${found.bytes.toString('base64')}`
  }
  const template = lightTemplate(settingsOf(row).svgTemplates)
  const found = template && (await read(template.uri))
  if (found) return toImageUrl(renderSvg(found.bytes.toString('utf8'), new Map()))
  if (backgroundColor === undefined && !logo && !backgroundImage) return undefined
  const card: Card = {
    name,
    issuer,
    description,
    backgroundColor,
    textColor,
    logo: await toUrl(logo),
    backgroundImage: await toUrl(backgroundImage),
  }
  return toImageUrl(drawCard(card))
}
